"""The dot product of a projected query and projected keys."""

import keras

from keras_seqattn.checks import check_count
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.attention import Attention
from keras_seqattn.ops.score import dot_score


@keras.saving.register_keras_serializable(package="keras_seqattn")
class ProjectedDotAttention(Attention):
    """Query and keys meet in a common space, without the v of the additive score.

    Args:
        units: size of that space.
        factor: a constant that multiplies the scores, e.g. `units**-0.5` as in Vaswani
            et al.; None: none. (`LuongAttention(scale=True)` learns one.)
        **kwargs: of `Attention`; `value_units` makes it Vaswani's attention, one head.

    Call arguments, Returns: those of `Attention`.

    Equations:
        e[b, s] = factor * sum{(W_Q query)[b, u] * (W_K value)[b, s, u] : u}
            Vaswani (1)

    Shapes:
        query: [batch, target, query_depth]
        value: [batch, source, memory_depth]
        context: [batch, target, memory_depth]
        alignment: [batch, target, source]

    Example:
        >>> attention = ProjectedDotAttention(16, factor=16**-0.5)
        >>> query, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> attention(query, value).shape
        TensorShape([2, 3, 6])

    References:
        Vaswani et al. 2017, arXiv:1706.03762.
    """

    def __init__(self, units, factor=None, **kwargs):
        super().__init__(**kwargs)
        owner = type(self).__name__
        check_count(owner, "units", units)
        if isinstance(factor, (bool, str)):
            raise four_part_error(
                f"{owner} got an unusable factor",
                "a number or None",
                f"factor={abbreviated(factor)}",
                f"Pass e.g. factor={units}**-0.5",
            )
        self.units, self.factor = units, factor
        self.query_projection = self.make_projection(units, "query_projection")  # W_Q
        self.key_projection = self.make_projection(units, "key_projection")  # W_K

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.query_projection.build(query_shape)
        self.key_projection.build(key_shape or value_shape)

    def project_keys(self, value):
        return self.key_projection(value)

    def score(self, query, memory, state=()):
        query = self.apply_projection(self.query_projection, query)
        return dot_score(query, memory.keys, self.factor)  # Vaswani (1)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "factor": self.factor}
