"""From strings to ids and back, inside the TensorFlow graph."""
