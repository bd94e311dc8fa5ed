"""Parts of the public layers; none of them is public."""
