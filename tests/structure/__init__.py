"""What the graphs look like: where the products are, how often they are traced."""
