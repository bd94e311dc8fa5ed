"""Bridges: from the result of the encoder to the initial state of the decoder."""

import keras
from keras import ops, tree

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.composite import Composite
from keras_seqattn.layers.parts.run_recurrent import as_lists
from keras_seqattn.ops.mask import row_lengths, zero_padding
from keras_seqattn.ops.precision import at_least_float32
from keras_seqattn.types import Encoded


class Bridge(Composite):
    """Base of the bridges: called on an `Encoded`, gives a nest of `[batch, size]`."""

    def build(self, encoded_shape):
        _as_encoded(self, encoded_shape)  # raises an error for a wrong structure

    def compute_mask(self, encoded, mask=None):
        return None  # a state has no source axis

    def compute_output_spec(self, encoded):
        shapes = tree.map_structure(lambda x: x.shape, _as_encoded(self, encoded))
        return tree.map_shape_structure(
            lambda shape: keras.KerasTensor(shape, dtype=self.compute_dtype),
            self.compute_output_shape(shapes),
        )


@keras.saving.register_keras_serializable(package="keras_seqattn")
class ZeroBridge(Bridge):
    """Starts the decoder from zeros: it knows the source from its attention only.

    Args:
        state_size: size of the decoder's state as Keras cells have it: an integer
            (GRU), a list of integers (LSTM), a list of these (a stack of layers).

    Call arguments:
        encoded: `Encoded`; only its batch size matters.

    Returns:
        Zeros `[batch, size]`, in the structure of `state_size`.

    Shapes:
        values: [batch, source, memory_depth]
        returned: for every size in `state_size`, [batch, size]

    Example:
        >>> encoded = BiEncoder(8)(keras.ops.ones((2, 5, 4)))
        >>> h, c = ZeroBridge([6, 6])(encoded)
        >>> h.shape
        TensorShape([2, 6])
    """

    def __init__(self, state_size, **kwargs):
        super().__init__(**kwargs)
        self.state_size = as_lists(state_size)
        _check_state_size("ZeroBridge", self.state_size)

    def call(self, encoded):
        batch = ops.shape(_as_encoded(self, encoded).values)[0]
        return tree.map_structure(
            lambda size: ops.zeros((batch, size), self.compute_dtype),
            as_lists(self.state_size),
        )

    def compute_output_shape(self, encoded_shape):
        batch = _as_encoded(self, encoded_shape).values[0]
        return tree.map_structure(lambda size: (batch, size), as_lists(self.state_size))

    def get_config(self):
        return {**super().get_config(), "state_size": as_lists(self.state_size)}


@keras.saving.register_keras_serializable(package="keras_seqattn")
class CopyBridge(Bridge):
    """Starts the decoder from the encoder's final state, unchanged.

    The decoder's state must have the structure and sizes of the encoder's: the same
    cell and as many layers (or those chosen by `layers`). After a `BiEncoder` of
    `units` it has `2 * units`, with `merge="sum"` just `units`.

    Args:
        layers: the encoder's layers to copy, as indices into `encoded.state` from the
            bottom, e.g. `[-1]` for the top one. None: all.

    Call arguments:
        encoded: `Encoded`.

    Returns:
        A list with the state of each layer; for one layer that state itself.

    Shapes:
        state: per layer, [batch, units] or a list of these
        returned: the same

    Example:
        >>> encoded = BiEncoder(8)(keras.ops.ones((2, 5, 4)))
        >>> h, c = CopyBridge()(encoded)
        >>> h.shape
        TensorShape([2, 16])

    References:
        Sutskever, Vinyals, Le 2014, arXiv:1409.3215.
    """

    def __init__(self, layers=None, **kwargs):
        super().__init__(**kwargs)
        self.layer_indices = None if layers is None else list(layers)

    def call(self, encoded):
        return self._chosen(_as_encoded(self, encoded).state)

    def compute_output_shape(self, encoded_shape):
        states = _as_encoded(self, encoded_shape).state
        return tree.map_shape_structure(tuple, self._chosen(states))

    def get_config(self):
        layers = None if self.layer_indices is None else list(self.layer_indices)
        return {**super().get_config(), "layers": layers}

    def _chosen(self, states):
        _check_has_state(self, states)
        depth = len(states)
        chosen = range(depth) if self.layer_indices is None else self.layer_indices
        if not chosen or not all(-depth <= i < depth for i in chosen):
            raise four_part_error(
                "CopyBridge got layers that the encoder does not have",
                f"indices from {-depth} to {depth - 1}",
                f"layers={self.layer_indices}",
                "Count from 0 at the bottom, or use None for all layers",
            )
        states = [states[i] for i in chosen]
        return states[0] if len(states) == 1 else states


@keras.saving.register_keras_serializable(package="keras_seqattn")
class DenseBridge(Bridge):
    """Starts the decoder from a learned function of the encoder's result.

    Args:
        state_size: size of the decoder's state as Keras cells have it: an integer
            (GRU), a list of integers (LSTM), a list of these (a stack of layers). Each
            gets its own `Dense`.
        inputs: what is projected. `"state"`: the final states of all layers, side by
            side. `"backward"`: the backward half of the top layer's final output, i.e.
            bw_1; for a bidirectional layer that concatenates. `"mean"`: the mean of the
            values over the real positions.
        activation: activation of the projection.
        use_bias: whether the projection has a bias.
        kernel_initializer: initializer of the kernels.

    Call arguments:
        encoded: `Encoded`.

    Returns:
        `[batch, size]`, in the structure of `state_size`.

    Equations:
        s_0 = tanh(W_s bw_1), with `inputs="backward", use_bias=False`
            Bahdanau (A.2.2: s_0)

    Shapes:
        values: [batch, source, memory_depth]
        state: per layer, [batch, units] or a list of these
        returned: for every size in `state_size`, [batch, size]

    Example:
        >>> encoded = BiEncoder(8)(keras.ops.ones((2, 5, 4)))
        >>> DenseBridge(6, inputs="backward")(encoded).shape
        TensorShape([2, 6])

    References:
        Bahdanau, Cho, Bengio 2015, arXiv:1409.0473.
        Sennrich et al. 2017, Nematus, arXiv:1703.04357 ("mean").
    """

    def __init__(
        self,
        state_size,
        inputs="state",
        activation="tanh",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.state_size = as_lists(state_size)
        _check_state_size("DenseBridge", self.state_size)
        check_choice("DenseBridge", "inputs", inputs, _SUMMARIES)
        self.inputs, self.use_bias = inputs, use_bias
        self.activation = keras.activations.get(activation)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.projections = [
            self.make_projection(size, f"projection_{i}", use_bias)
            for i, size in enumerate(tree.flatten(self.state_size))
        ]

    def build(self, encoded_shape):
        values, _, states = _as_encoded(self, encoded_shape)
        if self.inputs != "mean":
            _check_has_state(self, states)
        sizes = tree.flatten(states)[1::2]  # of the flattened [batch, size] pairs
        top = tree.flatten(states[-1])[1] if states else 0
        if self.inputs == "backward" and top % 2:
            raise four_part_error(
                "DenseBridge got a state whose size is odd",
                "the forward and backward halves of a bidirectional layer",
                f"size {top}",
                'Use inputs="state" after an encoder that does not concatenate them',
            )
        depth = {"state": sum(sizes), "backward": top // 2, "mean": values[-1]}
        for dense in self.projections:
            dense.build((values[0], depth[self.inputs]))

    def call(self, encoded):
        summary = _SUMMARIES[self.inputs](_as_encoded(self, encoded))
        states = [
            self.activation(w(summary))  # Bahdanau (A.2.2: s_0)
            for w in self.projections
        ]
        return tree.pack_sequence_as(as_lists(self.state_size), states)

    def compute_output_shape(self, encoded_shape):
        batch = _as_encoded(self, encoded_shape).values[0]
        return tree.map_structure(lambda size: (batch, size), as_lists(self.state_size))

    def get_config(self):
        return {
            **super().get_config(),
            "state_size": as_lists(self.state_size),
            "inputs": self.inputs,
            "activation": keras.activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }


def _final_states(encoded):
    return ops.concatenate(tree.flatten(encoded.state), axis=-1)


def _backward_half(encoded):
    # The state and not values[:, 0]: with left padding the first word is elsewhere.
    _, backward = ops.split(tree.flatten(encoded.state[-1])[0], 2, axis=-1)
    return backward


def _mean_value(encoded):
    values = zero_padding(encoded.values, encoded.mask)
    lengths = ops.maximum(row_lengths(encoded.mask, values), 1.0)  # nothing real: zero
    total = ops.sum(at_least_float32(values), axis=1)
    return ops.cast(total / ops.cast(lengths, total.dtype)[:, None], values.dtype)


_SUMMARIES = {
    "state": _final_states,
    "backward": _backward_half,
    "mean": _mean_value,
}


def _as_encoded(bridge, encoded):
    """The named tuple (of tensors or shapes), for which a reloaded model has a list."""
    nested = isinstance(encoded, (list, tuple)) and len(encoded) == 3
    if not nested or not isinstance(encoded[2], (list, tuple)):
        raise four_part_error(
            f"{type(bridge).__name__} got something else than what an encoder returns",
            "Encoded(values, mask, state)",
            f"{getattr(encoded, 'shape', encoded)}",
            "Pass the result of the encoder whole, not one of its parts",
        )
    return Encoded(*encoded)


def _check_has_state(bridge, states):
    if not states:
        raise four_part_error(
            f"{type(bridge).__name__} got an encoder without a state",
            "the final state of each layer of the encoder",
            "none: a Transformer has no final state",
            'Pass DenseBridge(units, inputs="mean"), which pools the annotations',
        )


def _check_state_size(owner, state_size):
    for size in tree.flatten(state_size) or [None]:
        check_count(owner, "state_size", size)
