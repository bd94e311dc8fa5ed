"""Chen et al. 2018 (RNMT+): additive attention with several heads."""

import keras
from keras import ops

from keras_seqattn.checks import check_count
from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.composite import training_kwargs
from keras_seqattn.layers.parts.checks import check_heads
from keras_seqattn.ops.align import multi_head_context
from keras_seqattn.ops.precision import at_least_float32
from keras_seqattn.ops.score import multi_head_additive_score
from keras_seqattn.types import Attended


@keras.saving.register_keras_serializable(package="keras_seqattn")
class MultiHeadAdditiveAttention(Attention):
    """Several additive attentions side by side, each with its own projections.

    Query, key and value projections have `units / heads` columns for each head; the
    contexts of all heads are concatenated and projected once more.

    Args:
        units: size of the projections, all heads together.
        heads: number of heads, a divisor of units.
        value_units: depth of the context; None: that of the memory.
        **kwargs: of `Attention`.

    Call arguments: those of `Attention`.

    Returns:
        As `Attention`, the alignment with an axis of heads before the target:
        `[batch, heads, target, source]`, for a single query `[batch, heads, source]`.
        In step form, `attend`, it is `[batch, ..., heads, source]`.

    Equations:
        e[b, h, s] = sum{v[h, u] * tanh((W_a query)[b, h, u]
            + (U_a value)[b, s, h, u]) : u}  Bahdanau (A.1.2: each head)
        alignment[b, h] = softmax(e[b, h])  Bahdanau (6)
        heads[b, h, u] = sum{alignment[b, h, s] * (W_V value)[b, s, h, u] : s}
            Bahdanau (5: each head)
        context = W_O [heads[b, 1]; ...; heads[b, H]]
        The paper on RNMT+ has no numbers.

    Shapes:
        query: [batch, target, query_depth]
        value: [batch, source, memory_depth]
        context: [batch, target, memory_depth]
        alignment: [batch, heads, target, source]

    Example:
        >>> attention = MultiHeadAdditiveAttention(8, heads=2)
        >>> query, value = keras.ops.ones((3, 4, 5)), keras.ops.ones((3, 6, 7))
        >>> context, alignment = attention(query, value, return_attention_scores=True)
        >>> context.shape, alignment.shape
        (TensorShape([3, 4, 7]), TensorShape([3, 2, 4, 6]))

    References:
        Chen et al. 2018, arXiv:1804.09849.
        Bahdanau, Cho, Bengio 2015, arXiv:1409.0473.
    """

    _has_fast_score = True

    def __init__(self, units, heads=4, value_units=None, **kwargs):
        super().__init__(**kwargs)
        owner = type(self).__name__
        check_heads(owner, units, heads)
        if value_units is not None:
            check_count(owner, "value_units", value_units)
        self.units, self.heads, self.value_units = units, heads, value_units
        self.query_projection = self.make_projection(units, "query_projection")  # W_a
        self.key_projection = self.make_projection(units, "key_projection")  # U_a
        self.value_projection = self.make_projection(units, "value_projection")  # W_V

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.query_projection.build(query_shape)
        self.key_projection.build(key_shape or value_shape)
        depth = self.value_units or value_shape[-1]
        self.output_projection = self.make_projection(depth, "output_projection")  # W_O
        self.output_projection.build((*query_shape[:-1], self.units))
        self.v = self.add_weight(
            name="v",
            shape=(self.heads, self.units // self.heads),
            initializer=self.kernel_initializer,
        )

    def project_keys(self, value):
        return at_least_float32(self.key_projection(value))  # for the tanh of a score

    def score(self, query, memory, state=()):
        query = self._split(self.apply_projection(self.query_projection, query))
        keys, v = self._split(memory.keys), self.compute_weight(self.v)
        return self._implementation_of(multi_head_additive_score)(query, keys, v)

    def read(self, alignment, memory, state, training=None):
        alignment = ops.cast(alignment, self.compute_dtype)
        dropped = self.alignment_dropout(alignment, **training_kwargs(training))
        heads = multi_head_context(dropped, self._split(memory.values))
        joined = ops.reshape(heads, (*ops.shape(heads)[:-2], self.units))
        return Attended(self.output_projection(joined), alignment, state)

    def _split(self, x):
        """`[..., units]` to `[..., heads, units / heads]`."""
        per_head = (self.heads, self.units // self.heads)
        return ops.reshape(x, (*ops.shape(x)[:-1], *per_head))

    def alignment_shape(self, query_shape, value_shape):
        return (query_shape[0], self.heads, *query_shape[1:-1], value_shape[1])

    def get_config(self):
        return {**super().get_config(), "units": self.units, "heads": self.heads}
