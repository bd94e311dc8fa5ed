"""What the public layers are made of; nothing here is public."""
