"""Vaswani et al. 2017: scaled dot products with several heads."""

import math

import keras
from keras import ops

from keras_seqattn.checks import check_count
from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.composite import training_kwargs
from keras_seqattn.layers.parts.checks import check_heads
from keras_seqattn.ops import dispatch
from keras_seqattn.types import Attended


@keras.saving.register_keras_serializable(package="keras_seqattn")
class MultiHeadAttention(Attention):
    """Several scaled dot products side by side, each with its own projections.

    `prepare` projects and splits keys and values once for a source, while Keras's layer
    projects them at every call. With `use_causal_mask` it is the self-attention of a
    decoder.

    Args:
        units: size of the projections of query and key, all heads together.
        heads: number of heads, a divisor of units.
        value_units: depth of the context; None: that of the memory.
        use_bias: whether the projections have biases, as Keras's have; not those of
            the keys, where a bias would change all scores of a query alike, and so no
            alignment.
        **kwargs: of `Attention`.

    Call arguments: those of `Attention`.

    Returns:
        As `Attention`, the alignment with an axis of heads before the target:
        `[batch, heads, target, source]`, for a single query `[batch, heads, source]`.
        In step form, `attend`, it is `[batch, ..., heads, source]`.

    Equations:
        e[b, h, s] = sum{(W_Q query)[b, h, u] * (W_K value)[b, h, s, u] : u}
            / sqrt(units / heads)  Vaswani (3.2.2: scores)
        alignment[b, h] = softmax(e[b, h])
        heads[b, h] = sum{alignment[b, h, s] * (W_V value)[b, h, s] : s}
            Vaswani (3.2.2: head_i)
        context = W_O [heads[b, 1]; ...; heads[b, H]]  Vaswani (3.2.2)

    Shapes:
        query: [batch, target, query_depth]
        value: [batch, source, memory_depth]
        context: [batch, target, memory_depth]
        alignment: [batch, heads, target, source]

    Example:
        >>> attention = MultiHeadAttention(8, heads=2)
        >>> query, value = keras.ops.ones((3, 4, 5)), keras.ops.ones((3, 6, 7))
        >>> context, alignment = attention(query, value, return_attention_scores=True)
        >>> context.shape, alignment.shape
        (TensorShape([3, 4, 7]), TensorShape([3, 2, 4, 6]))

    References:
        Vaswani et al. 2017, arXiv:1706.03762.
    """

    def __init__(self, units, heads=8, value_units=None, use_bias=True, **kwargs):
        super().__init__(**kwargs)
        owner = type(self).__name__
        check_heads(owner, units, heads)
        if value_units is not None:
            check_count(owner, "value_units", value_units)
        self.units, self.heads, self.value_units = units, heads, value_units
        self.use_bias = use_bias
        self.query_projection = self._projection("query_projection")  # W_Q
        self.key_projection = self.make_projection(units, "key_projection")  # W_K
        self.value_projection = self._projection("value_projection")  # W_V

    def _projection(self, name):
        return self.make_projection(self.units, name, use_bias=self.use_bias)

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.query_projection.build(query_shape)
        self.key_projection.build(key_shape or value_shape)
        depth = self.value_units or value_shape[-1]
        self.output_projection = self.make_projection(  # W_O
            depth, "output_projection", use_bias=self.use_bias
        )
        self.output_projection.build((*query_shape[:-1], self.units))

    def project_keys(self, value):
        return self._heads_first(self.key_projection(value))

    def project_values(self, value):
        return self._heads_first(self.value_projection(value))

    def attend(self, query, memory, state=(), training=None):
        axes = ops.shape(query)[1:-1]
        rows = ops.reshape(query, (-1, math.prod(axes), query.shape[-1]))
        q = self._heads_first(self.apply_projection(self.query_projection, rows))
        factor = (self.units // self.heads) ** -0.5
        keys = ops.swapaxes(memory.keys, -1, -2)
        scores = ops.matmul(q * factor, keys)  # Vaswani (3.2.2: scores)
        mask = memory.mask
        if mask is not None:  # [batch, source], or [batch, target, source]
            mask = mask[:, None] if len(mask.shape) == 3 else mask[:, None, None]
        alignment = dispatch.masked_softmax(scores, mask)
        alignment = ops.cast(alignment, self.compute_dtype)
        dropped = self.alignment_dropout(alignment, **training_kwargs(training))
        heads = ops.matmul(dropped, memory.values)  # Vaswani (3.2.2: head_i)
        heads = ops.swapaxes(heads, 1, 2)
        joined = ops.reshape(heads, (-1, *axes, self.units))
        context = self.output_projection(joined)  # Vaswani (3.2.2)
        alignment = ops.swapaxes(alignment, 1, 2)  # heads after the query
        shape = (-1, *axes, *ops.shape(alignment)[2:])
        return Attended(context, ops.reshape(alignment, shape), state)

    def _heads_first(self, x):
        """`[batch, time, units]` to `[batch, heads, time, units / heads]`."""
        time, per_head = ops.shape(x)[1], self.units // self.heads
        return ops.swapaxes(ops.reshape(x, (-1, time, self.heads, per_head)), 1, 2)

    def alignment_shape(self, query_shape, value_shape):
        return (query_shape[0], self.heads, *query_shape[1:-1], value_shape[1])

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "heads": self.heads,
            "use_bias": self.use_bias,
        }
