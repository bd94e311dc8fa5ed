"""Which backend Keras must have; `import keras_seqattn` imports this module first."""

import os
import sys

from keras_seqattn.errors import four_part_error


def check_backend():
    """Check that Keras has the backend of TensorFlow, or will have it."""
    name = os.environ.get("KERAS_BACKEND") or "tensorflow"
    if "keras" in sys.modules or name == "tensorflow":
        import keras  # another backend may not even be installed

        name = keras.backend.backend()
    if name != "tensorflow":
        raise four_part_error(
            "keras_seqattn got another backend of Keras",
            "'tensorflow', because its loops, searches and texts are TensorFlow graphs",
            repr(name),
            "Set the environment variable KERAS_BACKEND=tensorflow before Python "
            "imports Keras; without it, ~/.keras/keras.json says which backend",
            kind=ImportError,
        )


check_backend()
