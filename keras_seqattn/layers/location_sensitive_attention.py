"""Chorowski et al. 2015: the additive score depends on the previous alignment."""

import keras
from keras import ops

from keras_seqattn.checks import check_count
from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.composite import clone_initializer
from keras_seqattn.layers.parts import checks
from keras_seqattn.ops.align import coverage_update, first_position, no_position
from keras_seqattn.ops.mask import per_query
from keras_seqattn.ops.precision import at_least_float32
from keras_seqattn.ops.score import additive_score


@keras.saving.register_keras_serializable(package="keras_seqattn")
class LocationSensitiveAttention(Attention):
    """Additive attention with convolution features of the previous alignment.

    Its state is the previous alignment, float32 `[batch, source]`. The paper does not
    define it for the first query; here, as in the authors' code, it is 1 at the first
    real position.

    Args:
        units: hidden size of the score.
        filters: number k of filters.
        kernel_size: their width r, an odd number, so that they are centred. The paper's
            201 is for frames of speech; text needs less.
        use_cumulative: whether the filters see the sum of all previous alignments
            (at first zero) instead of the last one, as in Tacotron 2 (which has 32
            filters of width 31).
        **kwargs: of `Attention`.

    Call arguments, Returns: those of `Attention`.

    Equations:
        f[b, s, k] = sum{F[s' - s, k] * previous[b, s'] : s'}  Chorowski (8)
        e[b, s] = sum{w[u] * tanh((W query)[b, u] + (V value)[b, s, u]
            + (U f)[b, s, u] + b[u]) : u}  Chorowski (9)

    Shapes:
        query: [batch, target, query_depth]
        value: [batch, source, memory_depth]
        context: [batch, target, memory_depth]
        alignment: [batch, target, source]

    Example:
        >>> attention = LocationSensitiveAttention(8, filters=4, kernel_size=3)
        >>> query, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> attention(query, value).shape
        TensorShape([2, 3, 6])

    References:
        Chorowski, Bahdanau, Serdyuk, Cho, Bengio 2015, arXiv:1506.07503.
        Shen et al. 2018, arXiv:1712.05884 (Tacotron 2).
    """

    def __init__(
        self, units, filters=10, kernel_size=201, use_cumulative=False, **kwargs
    ):
        super().__init__(**kwargs)
        owner = type(self).__name__
        check_count(owner, "units", units)
        check_count(owner, "filters", filters)
        check_count(owner, "kernel_size", kernel_size)
        if kernel_size % 2 == 0:
            raise four_part_error(
                f"{owner} got filters that have no centre",
                "an odd kernel_size",
                f"kernel_size={kernel_size}",
                f"Use {kernel_size - 1} or {kernel_size + 1}",
            )
        self.units, self.filters, self.kernel_size = units, filters, kernel_size
        self.use_cumulative = use_cumulative
        self.query_projection = self.make_projection(units, "query_projection")  # W
        self.key_projection = self.make_projection(units, "key_projection")  # V
        self.location_projection = self.make_projection(
            units, "location_projection"
        )  # U
        self.convolution = keras.layers.Conv1D(  # F
            filters,
            kernel_size,
            padding="same",
            use_bias=False,
            kernel_initializer=clone_initializer(self.kernel_initializer),
            dtype=self.dtype_policy,
            name="convolution",
        )

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.query_projection.build(query_shape)
        self.key_projection.build(key_shape or value_shape)
        self.convolution.build((query_shape[0], value_shape[1], 1))
        self.location_projection.build((None, self.filters))
        self.w = self.add_weight(
            name="w", shape=(self.units,), initializer=self.kernel_initializer
        )
        self.bias = self.add_weight(
            name="bias", shape=(self.units,), initializer="zeros"
        )

    def project_keys(self, value):
        return at_least_float32(self.key_projection(value))  # for the tanh of a score

    def initial_state(self, memory):
        if self.use_cumulative:
            return no_position(memory.values)
        return first_position(memory.values, memory.mask)

    def next_state(self, state, alignment):
        return coverage_update(state, alignment) if self.use_cumulative else alignment

    def score(self, query, memory, state=()):
        checks.check_past(type(self).__name__, state, query, "[batch, ..., source]")
        keys = per_query(memory.keys, len(query.shape))
        keys = keys + at_least_float32(self.locate(state))
        w, bias = self.compute_weight(self.w), self.compute_weight(self.bias)
        query = self.apply_projection(self.query_projection, query)
        return additive_score(query, keys, w, bias)  # Chorowski (9)

    def locate(self, previous):
        """`U f`, `[batch, ..., source, units]`, of the alignments before."""
        shape = ops.shape(previous)
        rows = ops.reshape(previous, (-1, shape[-1], 1))  # one batch axis
        features = self.convolution(rows)  # Chorowski (8)
        # With more axes, XLA could not compile the gradient of `Dense` inside a loop.
        features = ops.reshape(features, (-1, self.filters))
        return ops.reshape(self.location_projection(features), (*shape, self.units))

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "use_cumulative": self.use_cumulative,
        }
