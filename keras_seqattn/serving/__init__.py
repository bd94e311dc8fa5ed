"""A SavedModel behind HTTP, in the REST format of TensorFlow Serving."""

from keras_seqattn.serving.limits import Limits
from keras_seqattn.serving.server import serve

__all__ = [
    "Limits",
    "serve",
]
