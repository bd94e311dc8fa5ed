"""A signature of a SavedModel: arrays to arrays, with a size, and with an end.

The size of a computation is rows x source tokens x target tokens. A decoder looks at
every source token for every target token, and an answer with alignments has a number
for each of these pairs. So 130 kB of text can need an answer of 64 million numbers. The
bounds are known before a text is tokenized: a text has at most as many tokens as bytes,
plus an end token.

A computation can be cancelled. This needs private modules of TensorFlow; if another
release of TensorFlow has moved them, computations run to their end.
"""

import math
import unicodedata
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

try:
    from tensorflow.python.eager import context, execute
    from tensorflow.python.eager.cancellation import CancellationManager
except ImportError:  # pragma: no cover
    CancellationManager = None


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


class LengthBounds(NamedTuple):
    """Bounds of the lengths of texts in the model, from the manifest of an export."""

    max_source: float = math.inf  # tokens of a text that the model reads
    times: float = 1.0  # a translation has at most times * source + plus tokens
    plus: float = 0
    at_most: float = math.inf

    @classmethod
    def of(cls, manifest):
        """Return the bounds that a manifest declares.

        Without `max_length`, a target is at most as long as its source.
        """
        bounds = cls(max_source=manifest.get("max_source") or math.inf)
        longest = manifest.get("max_length")
        if isinstance(longest, int):
            return bounds._replace(at_most=longest, times=math.inf)
        if isinstance(longest, dict) and longest.get("class") == "RelativeLength":
            at_most = longest.get("at_most") or math.inf
            return bounds._replace(
                times=longest["times"], plus=longest["plus"], at_most=at_most
            )
        return bounds

    def lengths(self, inputs):
        """Return bounds for the tokens of the longest source and the longest target.

        Args:
            inputs: dict of arrays. Its texts are a source, or a source and a target.
        """
        longest = [
            min(_longest(array), self.max_source) + 1
            for array in inputs.values()
            if array.dtype.kind == "O" and array.size
        ]
        if not longest:
            return 1, 1
        source, *targets = longest
        if targets:
            return source, max(targets)
        target = math.ceil(min(self.times * source + self.plus, self.at_most))
        return source, max(target, 1)


def cell_count(call):
    """Return rows x source x target of a `SignatureCall`."""
    return math.prod(padded_size((0, 0, 0), call))


def padded_size(size, call):
    """Return (rows, source, target) of a batch after one more call joins it.

    All rows of a batch are padded to the longest.
    """
    rows, source, target = size
    longest_source, longest_target = call.lengths
    return (
        rows + call.rows,
        max(source, longest_source),
        max(target, longest_target),
    )


def _longest(texts):
    """Return a bound for the tokens of the longest text."""
    return max(map(_max_tokens, texts.ravel()))


def _max_tokens(text):
    """Return the number of bytes before or after NFKC, whichever is greater.

    NFKC can replace one character by 18.
    """
    if text.isascii():
        return len(text)
    normalized = unicodedata.normalize("NFKC", text.decode("utf-8", "replace"))
    return max(len(text), len(normalized.encode()))


class Cancellation:
    """Cancels computations: the running one at its next step, later ones at once."""

    def __init__(self):
        self._manager, self.is_cancelled = None, False

    def cancel(self):
        """Cancel them. They raise `tf.errors.CancelledError`."""
        self.is_cancelled = True
        if self._manager is not None:
            self._manager.start_cancel()

    def run(self, function, names, tensors):
        """Call a function of a SavedModel.

        `CancellationManager.get_cancelable_function` is the documented way, but it
        writes the manager to a global variable, and two queues compute at once.

        Args:
            function: concrete function.
            names: names of its arguments, from `argument_names`; None runs it without
                cancellation.
            tensors: dict of tensors by these names.
        """
        if CancellationManager is None or names is None:
            return function(**tensors)
        self._manager = CancellationManager()  # a new one: an error cancels it for good
        if self.is_cancelled:
            self._manager.start_cancel()
        eager = context.context()
        attributes = eager.function_call_options.as_attrs().items()
        outputs = execute.execute_with_cancellation(
            function.name.decode(),
            len(function.outputs),
            [*(tensors[name] for name in names), *function.captured_inputs],
            tuple(part for attribute in attributes for part in attribute),
            eager,
            self._manager,
        )
        return tf.nest.pack_sequence_as(function.structured_outputs, outputs)


def argument_names(function, expected):
    """Return the names of a concrete function's arguments in the order of its inputs.

    Return None if the order is not known.
    """
    if not all(hasattr(function, name) for name in ("inputs", "captured_inputs")):
        return None
    names = [tensor.op.name for tensor in function.inputs[: len(expected)]]
    is_known = set(names) == set(expected) and isinstance(function.name, bytes)
    return names if is_known else None


def _depends_on_batch(manifest):
    """Whether all rows of a batch share a shortlist or a seed."""
    is_seeded = manifest.get("search", {}).get("seed") is not None
    return is_seeded or "shortlist" in manifest
