"""`litert_function` runs a LiteRT file in Python."""

import os
import warnings

import numpy as np

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.text.optional_packages import tensorflow_text

OWNER = "litert_function"


def litert_function(file):
    """Return a function from a list of strings to a dict of arrays.

    The list must have as many strings as the batch of the file. On a device, use
    LiteRT's own interpreter, linked with the operations of tensorflow-text.

    Args:
        file: path of a file from `export_litert`, or its content as bytes.
    """
    from tensorflow.lite.python import interpreter

    operations = tensorflow_text(OWNER).tflite_registrar.SELECT_TFTEXT_OPS
    if not isinstance(file, bytes):
        with open(os.fspath(file), "rb") as opened:
            file = opened.read()
    with warnings.catch_warnings():
        # The interpreter moves to another package, which tensorflow-text does not use.
        warnings.filterwarnings("ignore", ".*tf.lite.Interpreter is deprecated")
        loaded = interpreter.InterpreterWithCustomOps(
            model_content=file, custom_op_registerers=operations
        )
    run = loaded.get_signature_runner()
    [batch] = run.get_input_details()["text"]["shape"]

    def translate(texts):
        if isinstance(texts, str) or len(texts) != batch:
            raise four_part_error(
                f"{OWNER} got the wrong number of texts",
                f"a list of {batch}, the batch size of the file",
                abbreviated(texts),
                "Add empty texts, or export with another batch",
            )
        return run(text=np.array([text.encode() for text in texts], object))

    return translate
