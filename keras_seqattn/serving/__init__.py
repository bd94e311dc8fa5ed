"""An HTTP server for SavedModels, with the REST API of TensorFlow Serving."""

from keras_seqattn.serving.limits import Limits
from keras_seqattn.serving.server import serve

__all__ = [
    "Limits",
    "serve",
]
