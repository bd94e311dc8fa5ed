"""See et al. 2017: the additive score depends on the sum of all past alignments."""

import keras
from keras import ops

from keras_seqattn.checks import check_count
from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.composite import clone_initializer
from keras_seqattn.layers.parts import checks
from keras_seqattn.ops.align import coverage_update, no_position
from keras_seqattn.ops.mask import per_query
from keras_seqattn.ops.precision import at_least_float32
from keras_seqattn.ops.score import additive_score


@keras.saving.register_keras_serializable(package="keras_seqattn")
class CoverageAttention(Attention):
    """Additive attention with a coverage vector, the sum of the alignments so far.

    The score depends on the positions that earlier queries attended to. The state is
    the coverage, float32 `[batch, source]`, at first zero.

    The paper's coverage loss (12), which penalises reading a position again, is not
    part of this layer; without it the paper found no less repetition.

    Args:
        units: hidden size of the score.
        **kwargs: of `Attention`.

    Call arguments, Returns: those of `Attention`.

    Equations:
        c_t[b, s] = sum{alignment_t'[b, s] : t' < t}  See (10)
        e[b, s] = sum{v[u] * tanh((W_h value)[b, s, u] + (W_s query)[b, u]
            + w_c[u] * c_t[b, s] + b_attn[u]) : u}  See (11)

    Shapes:
        query: [batch, target, query_depth]
        value: [batch, source, memory_depth]
        context: [batch, target, memory_depth]
        alignment: [batch, target, source]

    Example:
        >>> attention = CoverageAttention(8)
        >>> query, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> attention(query, value).shape
        TensorShape([2, 3, 6])

    References:
        See, Liu, Manning 2017, arXiv:1704.04368.
    """

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        check_count(type(self).__name__, "units", units)
        self.units = units
        self.query_projection = self.make_projection(units, "query_projection")  # W_s
        self.key_projection = self.make_projection(units, "key_projection")  # W_h

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.query_projection.build(query_shape)
        self.key_projection.build(key_shape or value_shape)
        shape, initializer = (self.units,), self.kernel_initializer
        self.v = self.add_weight(name="v", shape=shape, initializer=initializer)
        self.w_c = self.add_weight(
            name="w_c", shape=shape, initializer=clone_initializer(initializer)
        )
        self.bias = self.add_weight(name="bias", shape=shape, initializer="zeros")

    def project_keys(self, value):
        return at_least_float32(self.key_projection(value))  # for the tanh of a score

    def initial_state(self, memory):
        return no_position(memory.values)

    def next_state(self, state, alignment):
        return coverage_update(state, alignment)

    def score(self, query, memory, state=()):
        checks.check_past(type(self).__name__, state, query, "[batch, ..., source]")
        w_c = at_least_float32(self.compute_weight(self.w_c))
        keys = per_query(memory.keys, len(query.shape))
        keys = keys + ops.cast(state, w_c.dtype)[..., None] * w_c
        v, bias = self.compute_weight(self.v), self.compute_weight(self.bias)
        query = self.apply_projection(self.query_projection, query)
        return additive_score(query, keys, v, bias)  # See (11)

    def get_config(self):
        return {**super().get_config(), "units": self.units}
