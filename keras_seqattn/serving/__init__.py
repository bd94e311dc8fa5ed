"""A SavedModel behind HTTP, in the REST format of TensorFlow Serving."""
