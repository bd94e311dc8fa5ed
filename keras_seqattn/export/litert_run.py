"""A LiteRT file in this process."""

import os
import warnings

import numpy as np

from keras_seqattn.errors import four_part_error
from keras_seqattn.text.optional_packages import tensorflow_text

OWNER = "litert_function"


def litert_function(file):
    """A function from a list of strings to a dict of arrays, as many as the file wants.

    On a device, LiteRT's own interpreter does the same, linked with the operations of
    tensorflow-text.

    Args:
        file: path of what `export_litert` has written, or its content, bytes.
    """
    from tensorflow.lite.python import interpreter

    operations = tensorflow_text(OWNER).tflite_registrar.SELECT_TFTEXT_OPS
    if not isinstance(file, bytes):
        with open(os.fspath(file), "rb") as opened:
            file = opened.read()
    with warnings.catch_warnings():
        # It moves to a package of its own, which tensorflow-text does not know yet.
        warnings.filterwarnings("ignore", ".*tf.lite.Interpreter is deprecated")
        loaded = interpreter.InterpreterWithCustomOps(
            model_content=file, custom_op_registerers=operations
        )
    run = loaded.get_signature_runner()
    [batch] = run.get_input_details()["text"]["shape"]

    def translate(texts):
        if isinstance(texts, str) or len(texts) != batch:
            raise four_part_error(
                f"{OWNER} got another number of texts",
                f"a list of {batch}",
                repr(texts),
                "Fill it up with blank ones, or export with another batch",
            )
        return run(text=np.array([text.encode() for text in texts], object))

    return translate
