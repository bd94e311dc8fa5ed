"""From strings to strings in one graph, and out of Python as a SavedModel."""
