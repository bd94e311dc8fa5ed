"""From strings to strings, eagerly or in a graph."""
