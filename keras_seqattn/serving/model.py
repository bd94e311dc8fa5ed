"""A SavedModel and its signatures."""

import contextlib
from pathlib import Path

import numpy as np
import tensorflow as tf
from google.protobuf.json_format import MessageToDict
from tensorflow.core.protobuf import saved_model_pb2

from keras_seqattn.errors import four_part_error, missing_package
from keras_seqattn.manifest import NAME, read
from keras_seqattn.serving.signature import Signature, Spec
from keras_seqattn.text.optional_packages import TENSORFLOW_TEXT


class ServedModel:
    """A SavedModel, for example of `Translator.export`.

    Args:
        folder: path of the folder that holds `saved_model.pb`.
    """

    def __init__(self, folder):
        self._loaded = _load(folder)  # owns the variables
        content = (Path(folder) / "saved_model.pb").read_bytes()
        [graph] = saved_model_pb2.SavedModel.FromString(content).meta_graphs
        manifest = _manifest(folder)
        self.signatures = {
            name: Signature(name, function, graph.signature_def[name], manifest)
            for name, function in self._loaded.signatures.items()
        }
        self.metadata = {
            name: MessageToDict(
                definition,
                preserving_proto_field_name=True,
                always_print_fields_with_no_presence=True,
            )
            for name, definition in sorted(graph.signature_def.items())
        }

    def warm_up(self):
        """Call every signature of texts once: the first call of a graph is slow."""
        empty_text = np.array([b""], object)
        for signature in self.signatures.values():
            texts = Spec(np.dtype(object), (None,))
            if set(signature.inputs.values()) == {texts}:
                with contextlib.suppress(tf.errors.OpError):  # other texts may work
                    signature(dict.fromkeys(signature.inputs, empty_text))


def _manifest(folder):
    """Return the manifest of an export; other SavedModels have none."""
    return read(folder, "serve") if Path(folder, NAME).exists() else {}


def _load(folder):
    try:
        import tensorflow_text  # noqa: F401, the graph uses its operations
    except ImportError as error:
        raise missing_package(
            "serve", "tensorflow-text", error, requirement=TENSORFLOW_TEXT
        ) from error
    try:
        return tf.saved_model.load(str(folder))
    except (tf.errors.OpError, OSError) as error:
        first, *_ = str(error).splitlines() or [""]
        raise four_part_error(
            "serve cannot load the model",
            f"a SavedModel for TensorFlow {tf.__version__}",
            f"{str(folder)!r} with the error {first!r}",
            "Export it again",
        ) from error
