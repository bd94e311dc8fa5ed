"""The one-layer score of lecture notes."""

import keras

from keras_seqattn.layers.attention import Attention
from keras_seqattn.ops.score import one_layer_score


@keras.saving.register_keras_serializable(package="keras_seqattn")
class OneLayerAttention(Attention):
    """One row of weights over query and value: the additive score without v.

    Scores lie between -1 and 1, so the largest entry of an alignment is at most e^2
    times the smallest: it cannot be sharp. Good for a first lecture.

    Args:
        **kwargs: of `Attention`.

    Call arguments, Returns: those of `Attention`.

    Equations:
        e[b, s] = tanh(w . [query[b]; value[b, s]])

    Shapes:
        query: [batch, target, query_depth]
        value: [batch, source, memory_depth]
        context: [batch, target, memory_depth]
        alignment: [batch, target, source]

    Example:
        >>> attention = OneLayerAttention()
        >>> query, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> attention(query, value).shape
        TensorShape([2, 3, 6])

    References:
        Lecture form of Bahdanau, Cho, Bengio 2015, arXiv:1409.0473.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.query_projection = self.make_projection(1, "query_projection")
        self.key_projection = self.make_projection(1, "key_projection")

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.query_projection.build(query_shape)
        self.key_projection.build(key_shape or value_shape)

    def project_keys(self, value):
        return self.key_projection(value)

    def score(self, query, memory, state=()):
        return one_layer_score(
            self.apply_projection(self.query_projection, query), memory.keys
        )
