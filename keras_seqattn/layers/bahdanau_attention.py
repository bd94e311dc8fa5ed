"""Bahdanau et al. 2015: the additive score."""

import keras

from keras_seqattn.checks import check_count
from keras_seqattn.layers.attention import Attention
from keras_seqattn.ops.precision import at_least_float32
from keras_seqattn.ops.score import additive_score, normalized_v


@keras.saving.register_keras_serializable(package="keras_seqattn")
class BahdanauAttention(Attention):
    """Additive attention: a small network compares the query with every position.

    Args:
        units: size n' of the alignment model's hidden layer.
        normalize: weight normalisation of v and a bias inside the tanh, as the toolkits
            that followed the paper do ("normed Bahdanau", GNMT).
        **kwargs: of `Attention`.

    Call arguments, Returns: those of `Attention`.

    Equations:
        e[b, s] = sum{v[u] * tanh((W_a q)[b, u] + (U_a h)[b, s, u]) : u}
            Bahdanau (A.1.2); q is the query, h the value
        v = g * v / |v|, if `normalize`  Salimans (2)

    Shapes:
        query: [batch, target, query_depth]
        value: [batch, source, memory_depth]
        context: [batch, target, memory_depth]
        alignment: [batch, target, source]

    Example:
        >>> attention = BahdanauAttention(8)
        >>> query, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> context, alignment = attention(query, value, return_attention_scores=True)
        >>> context.shape, alignment.shape
        (TensorShape([2, 3, 6]), TensorShape([2, 3, 5]))

    References:
        Bahdanau, Cho, Bengio 2015, arXiv:1409.0473.
        Salimans, Kingma 2016, arXiv:1602.07868 (normalisation).
    """

    _has_fast_score = True

    def __init__(self, units, normalize=False, **kwargs):
        super().__init__(**kwargs)
        check_count(type(self).__name__, "units", units)
        self.units = units
        self.normalize = normalize
        self.query_projection = self.make_projection(units, "query_projection")  # W_a
        self.key_projection = self.make_projection(units, "key_projection")  # U_a

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.query_projection.build(query_shape)
        self.key_projection.build(key_shape or value_shape)
        # In float16 the squared length of a small v is rounded to 0.
        full = {"autocast": False} if self.normalize else {}
        self.v = self.add_weight(
            name="v", shape=(self.units,), initializer=self.kernel_initializer, **full
        )
        self.g = self.bias = None
        if self.normalize:
            initial = keras.initializers.Constant(self.units**-0.5)
            self.g = self.add_weight(name="g", shape=(), initializer=initial, **full)
            self.bias = self.add_weight(
                name="bias", shape=(self.units,), initializer="zeros"
            )

    def project_keys(self, value):
        return at_least_float32(self.key_projection(value))  # for the tanh of a score

    def score(self, query, memory, state=()):
        v, bias = self.v, None
        if self.normalize:
            v = normalized_v(v, self.g)
            bias = self.compute_weight(self.bias)
        v = self.compute_weight(v)
        query = self.apply_projection(self.query_projection, query)
        # `ops.score.additive_score`, or the function of this name in `ops.fast.score`
        return self._implementation_of(additive_score)(query, memory.keys, v, bias)

    def get_config(self):
        config = {"units": self.units, "normalize": self.normalize}
        return {**super().get_config(), **config}
