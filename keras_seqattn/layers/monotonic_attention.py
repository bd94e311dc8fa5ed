"""Raffel et al. 2017: monotonic attention."""

import keras
from keras import ops

from keras_seqattn.layers import checks
from keras_seqattn.layers.composed_attention import ComposedAttention
from keras_seqattn.ops.align import (
    first_position,
    hard_monotonic_alignment,
    parallel_monotonic_alignment,
)
from keras_seqattn.ops.mask import per_query
from keras_seqattn.ops.precision import at_least_float32


@keras.saving.register_keras_serializable(package="keras_seqattn")
class MonotonicAttention(ComposedAttention):
    """Walks through the source from left to right and never back.

    From where it stands, it goes on until it stops at a position with probability p.
    Training takes the expected alignment of this process (soft), inference the process
    itself (hard): the first position with p >= 1/2. Alignments sum to at most 1: it may
    run past the end, and then reads nothing, then and ever after.

    Args:
        attention: the mechanism that prepares, scores and reads; the paper's is
            `BahdanauAttention(units, normalize=True)`. Its value projection and dropout
            are its own.
        noise: standard deviation of noise that training adds to the scores; it drives
            the probabilities towards 0 and 1, so that soft comes to mean hard.
        score_bias: initial value of r, a learned scalar; negative for long sources, so
            that the walk does not stop at once.
        inference: "hard", or "soft" to go on as in training.
        seed: for the noise.
        **kwargs: of `keras.layers.Layer`.

    Call arguments, Returns: those of `Attention`.

    Equations:
        e[b, s] = score(query[b], value[b, s]) + r  (11)
        p[b, s] = sigmoid(e[b, s])  (12)
        q[b, s] = (1 - p[b, s - 1]) * q[b, s - 1] + previous[b, s]  (13)
        alignment[b, s] = p[b, s] * q[b, s]  (14)
        (13) and (14) are computed in closed form, (C.1). As in the authors' code it
        loses positions before which the product of 1 - p falls under 1e-10; on long
        sources a negative `score_bias` prevents that.

    Shapes:
        query: [batch, target, query_depth]
        value: [batch, source, memory_depth]
        context: [batch, target, memory_depth]
        alignment: [batch, target, source]

    Example:
        >>> inner = BahdanauAttention(8, normalize=True)
        >>> attention = MonotonicAttention(inner, noise=1.0, score_bias=-1.0)
        >>> query, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> attention(query, value, training=True).shape
        TensorShape([2, 3, 6])

    References:
        Raffel, Luong, Liu, Weiss, Eck 2017, arXiv:1704.00784.
    """

    def __init__(
        self,
        attention,
        noise=0.0,
        score_bias=0.0,
        inference="hard",
        seed=None,
        **kwargs,
    ):
        super().__init__(attention, **kwargs)
        owner = type(self).__name__
        if noise < 0:
            raise ValueError(
                f"{owner} got a negative noise. Expected a standard deviation >= 0, "
                f"received noise={noise!r}. Use 0 to switch it off."
            )
        checks.check_choice(owner, "inference", inference, ("hard", "soft"))
        self.noise, self.score_bias = noise, score_bias
        self.inference, self.seed = inference, seed
        self.seed_generator = keras.random.SeedGenerator(seed) if noise else None

    def build(self, query_shape, value_shape):
        super().build(query_shape, value_shape)
        initial = keras.initializers.Constant(self.score_bias)
        self.r = self.add_weight(name="r", shape=(), initializer=initial)

    def first(self, memory):
        return first_position(memory.values)

    def align(self, scores, query, memory, past, training=None):
        checks.check_past(type(self).__name__, past, query, "[batch, ..., source]")
        e = at_least_float32(scores)
        e = e + ops.cast(self.r, e.dtype)  # (11)
        if training and self.noise:
            dtype, seed = keras.backend.standardize_dtype(e.dtype), self.seed_generator
            noise = keras.random.normal(ops.shape(e), dtype=dtype, seed=seed)
            e = e + self.noise * noise
        choose = ops.sigmoid(e)  # (12)
        if memory.mask is not None:
            choose = ops.where(per_query(memory.mask, len(e.shape)), choose, 0.0)
        if training or self.inference == "soft":
            alignment = parallel_monotonic_alignment(choose, past)  # (13), (14): (C.1)
        else:
            alignment = hard_monotonic_alignment(choose, past)
        return alignment, alignment

    def get_config(self):
        return {
            **super().get_config(),
            "noise": self.noise,
            "score_bias": self.score_bias,
            "inference": self.inference,
            "seed": self.seed,
        }
