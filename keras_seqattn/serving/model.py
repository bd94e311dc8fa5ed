"""A SavedModel and its signatures: arrays in, arrays out."""

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
from keras_seqattn.serving.sizes import Bounds

LINEAR = "encode"  # the signature of an export that has no target


class Spec(NamedTuple):
    """What a tensor has to be."""

    dtype: Any  # of NumPy; object: strings
    shape: tuple | None  # None: any; None in it: any size

    @classmethod
    def of(cls, info):
        """That of a `TensorInfo`."""
        shape = tf.TensorShape(info.tensor_shape)
        dtype = tf.as_dtype(info.dtype).as_numpy_dtype
        return cls(
            np.dtype(dtype), None if shape.rank is None else tuple(shape.as_list())
        )

    @property
    def is_batch(self):
        """Whether it has a row for each of any number of instances."""
        return bool(self.shape) and self.shape[0] is None

    @property
    def is_row_fixed(self):
        """Whether rows have the same shape in every batch."""
        return self.is_batch and None not in self.shape[1:]


class Signature:
    """One of the functions of a SavedModel.

    Args:
        name: of the signature.
        function: takes tensors by name, returns tensors by name.
        definition: its `SignatureDef`.
        manifest: dict, what the export says about itself.
    """

    def __init__(self, name, function, definition, manifest):
        self.name, self._function = name, function
        self.sees_batch = _sees_batch(manifest)
        self.inputs = {k: Spec.of(v) for k, v in sorted(definition.inputs.items())}
        self.outputs = {k: Spec.of(v) for k, v in sorted(definition.outputs.items())}
        self._dtypes = {k: tf.as_dtype(v.dtype) for k, v in definition.inputs.items()}
        self._names = argument_names(function, self.inputs)
        self._bounds = Bounds.of(manifest) if self._has_target(manifest) else None

    @property
    def is_batched(self):
        """Whether all inputs have one row for each instance."""
        return all(spec.is_batch for spec in self.inputs.values())

    @property
    def is_shared(self):
        """Whether the answer to a request is the same in every batch.

        It is not if an output is padded to the longest of its batch, or if all rows
        share a shortlist or a seed.
        """
        if self.sees_batch:
            return False
        specs = [*self.inputs.values(), *self.outputs.values()]
        return bool(self.inputs) and all(spec.is_row_fixed for spec in specs)

    def lengths(self, inputs):
        """Tokens of the longest source and of the longest target, at most.

        1 and 1 if the computation does not grow with their product.
        """
        return (1, 1) if self._bounds is None else self._bounds.lengths(inputs)

    def __call__(self, inputs, cancellation=None):
        """Arrays by name for arrays by name."""
        cancellation = cancellation or Cancellation()
        tensors = {k: tf.constant(v, self._dtypes[k]) for k, v in inputs.items()}
        outputs = cancellation.run(self._function, self._names, tensors)
        return {name: outputs[name].numpy() for name in self.outputs}

    def _has_target(self, manifest):
        """Whether a number is computed for every pair of a source and a target token.

        A model of others is known by its outputs: a matrix of any size for each row.
        """
        if "max_length" in manifest:
            return self.name != LINEAR
        shapes = [spec.shape for spec in self.outputs.values()]
        return any(shape is None or shape[1:].count(None) > 1 for shape in shapes)


class ServedModel:
    """What `Translator.export` has written; this library is not needed to run it.

    Args:
        folder: with `saved_model.pb`.
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
        """Calls what takes texts: the first call prepares the graph, and is slow."""
        nothing = np.array([b""], object)
        for signature in self.signatures.values():
            texts = Spec(np.dtype(object), (None,))
            if set(signature.inputs.values()) == {texts}:
                with contextlib.suppress(tf.errors.OpError):  # another text may do
                    signature(dict.fromkeys(signature.inputs, nothing))


def _sees_batch(manifest):
    """Whether all rows share a shortlist, or a seed of which each draws its part."""
    is_seeded = manifest.get("search", {}).get("seed") is not None
    return is_seeded or "shortlist" in manifest


def _manifest(folder):
    """What the export says of itself; a SavedModel of others says nothing."""
    return read(folder, "serve") if Path(folder, NAME).exists() else {}


def _load(folder):
    try:
        import tensorflow_text  # noqa: F401, its operations are in the graph
    except ImportError as error:
        raise four_part_error(
            "serve lacks a package",
            "tensorflow-text to be installed",
            f'"{error}"',
            'Call `pip install "tensorflow-text>=2.21.1,<2.22"`',
            kind=ImportError,
        ) from error
    try:
        return tf.saved_model.load(str(folder))
    except (tf.errors.OpError, OSError) as error:
        first, *_ = str(error).splitlines() or [""]
        raise four_part_error(
            "serve cannot load its model",
            f"a SavedModel for TensorFlow {tf.__version__}",
            f"{str(folder)!r} with the error {first!r}",
            "Export it again",
        ) from error
