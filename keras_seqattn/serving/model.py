"""A SavedModel and its signatures, which map arrays to arrays."""

import contextlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from google.protobuf.json_format import MessageToDict
from tensorflow.core.protobuf import saved_model_pb2

from keras_seqattn.errors import four_part_error
from keras_seqattn.manifest import NAME, read
from keras_seqattn.serving.cancellation import Cancellation, argument_names
from keras_seqattn.serving.computation_size import LengthBounds

ENCODE = "encode"  # the only signature of an export that computes no target


class Spec(NamedTuple):
    """The dtype and shape of a tensor."""

    dtype: Any  # of NumPy; object means strings
    shape: tuple | None  # None means any shape; None in the tuple means any size

    @classmethod
    def of(cls, info):
        """Return the spec of a `TensorInfo`."""
        shape = tf.TensorShape(info.tensor_shape)
        dtype = tf.as_dtype(info.dtype).as_numpy_dtype
        return cls(
            np.dtype(dtype), None if shape.rank is None else tuple(shape.as_list())
        )

    @property
    def is_batch(self):
        """Whether the first axis is the batch: one row per instance, of any number."""
        return bool(self.shape) and self.shape[0] is None

    @property
    def is_row_fixed(self):
        """Whether rows have the same shape in every batch."""
        return self.is_batch and None not in self.shape[1:]


class Signature:
    """One of the functions of a SavedModel.

    Args:
        name: name of the signature.
        function: takes tensors by name, returns tensors by name.
        definition: its `SignatureDef`.
        manifest: dict, the content of `manifest.json`; empty if there is none.
    """

    def __init__(self, name, function, definition, manifest):
        self.name, self._function = name, function
        self.depends_on_batch = _depends_on_batch(manifest)
        self.inputs = {k: Spec.of(v) for k, v in sorted(definition.inputs.items())}
        self.outputs = {k: Spec.of(v) for k, v in sorted(definition.outputs.items())}
        self._dtypes = {k: tf.as_dtype(v.dtype) for k, v in definition.inputs.items()}
        self._names = argument_names(function, self.inputs)
        self._bounds = LengthBounds.of(manifest) if self._has_target(manifest) else None

    @property
    def is_batched(self):
        """Whether all inputs have one row for each instance."""
        return all(spec.is_batch for spec in self.inputs.values())

    @property
    def is_shared(self):
        """Whether requests may share a batch: answers are the same in every batch.

        They are not if an output is padded to the longest row of the batch, or if all
        rows share a shortlist or a seed.
        """
        if self.depends_on_batch:
            return False
        specs = [*self.inputs.values(), *self.outputs.values()]
        return bool(self.inputs) and all(spec.is_row_fixed for spec in specs)

    def lengths(self, inputs):
        """Return bounds for the tokens of the longest source and the longest target.

        Return (1, 1) if the computation does not grow with their product.
        """
        return (1, 1) if self._bounds is None else self._bounds.lengths(inputs)

    def __call__(self, inputs, cancellation=None):
        """Return the outputs for some inputs; both are arrays by name."""
        cancellation = cancellation or Cancellation()
        tensors = {k: tf.constant(v, self._dtypes[k]) for k, v in inputs.items()}
        outputs = cancellation.run(self._function, self._names, tensors)
        return {name: outputs[name].numpy() for name in self.outputs}

    def _has_target(self, manifest):
        """Whether it computes a number for every pair of source and target tokens.

        A SavedModel without a manifest does if an output has two axes of unknown size
        for each row.
        """
        if "max_length" in manifest:
            return self.name != ENCODE
        shapes = [spec.shape for spec in self.outputs.values()]
        return any(shape is None or shape[1:].count(None) > 1 for shape in shapes)


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


def _depends_on_batch(manifest):
    """Whether all rows of a batch share a shortlist or a seed."""
    is_seeded = manifest.get("search", {}).get("seed") is not None
    return is_seeded or "shortlist" in manifest


def _manifest(folder):
    """Return the manifest of an export; other SavedModels have none."""
    return read(folder, "serve") if Path(folder, NAME).exists() else {}


def _load(folder):
    try:
        import tensorflow_text  # noqa: F401, the graph uses its operations
    except ImportError as error:
        raise four_part_error(
            "serve needs a package that is not installed",
            "tensorflow-text",
            f'"{error}"',
            'Run `pip install "tensorflow-text>=2.21.1,<2.22"`',
            kind=ImportError,
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
