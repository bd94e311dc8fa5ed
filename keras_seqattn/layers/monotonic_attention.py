"""Raffel et al. 2017: monotonic attention."""

import keras
from keras import ops

from keras_seqattn.checks import check_choice, check_number
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.composed_attention import ComposedAttention
from keras_seqattn.layers.composite import training_kwargs
from keras_seqattn.layers.parts import checks
from keras_seqattn.ops.align import (
    closed_monotonic_alignment,
    first_position,
    hard_monotonic_alignment,
    monotonic_alignment,
)
from keras_seqattn.ops.mask import per_query
from keras_seqattn.ops.precision import at_least_float32

FORMS = {"exact": monotonic_alignment, "closed": closed_monotonic_alignment}


@keras.saving.register_keras_serializable(package="keras_seqattn")
class MonotonicAttention(ComposedAttention):
    """Walks through the source from left to right and never back.

    From where it stands, it goes on until it stops at a position with probability p.
    Training takes the expected alignment of this process (soft), inference the process
    itself (hard): the first position with p > 1/2. Alignments sum to at most 1: once
    the process has passed the end, it reads nothing at this and all later queries.

    The defaults are the bare equations. The paper trains with `noise=1.0` on top of
    `BahdanauAttention(units, normalize=True)`, and starts r at a value chosen for the
    task (`score_bias`), below 0 where the source is long.

    Args:
        attention: the mechanism that prepares, scores and reads. Its value projection
            and dropout are its own.
        noise: standard deviation of noise that training adds to the scores; it drives
            the probabilities towards 0 and 1, so that soft comes to mean hard.
        score_bias: initial value of r, a learned scalar; negative for long sources, so
            that the walk does not stop at once.
        inference: "hard", or "soft" to go on as in training.
        form: of the soft alignment. "exact" is (13), (14), with a logarithm of the
            source's length in steps. "closed" is the published form (C.1) with the clip
            of the authors' code, two scans; it loses alignment, and its gradient,
            where the probability of passing all positions before falls below 1e-10:
            from the 34th with p = 1/2 on, or behind a single one with p = 1.
        seed: for the noise.
        **kwargs: of `keras.layers.Layer`.

    Call arguments, Returns: those of `Attention`.

    Equations:
        e[b, s] = score(query[b], value[b, s]) + r  Raffel (11)
        p[b, s] = sigmoid(e[b, s])  Raffel (12)
        q[b, s] = (1 - p[b, s - 1]) * q[b, s - 1] + previous[b, s]  Raffel (13)
        alignment[b, s] = p[b, s] * q[b, s]  Raffel (14)

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
        form="exact",
        seed=None,
        **kwargs,
    ):
        super().__init__(attention, **kwargs)
        owner = type(self).__name__
        check_number(owner, "noise", noise)
        check_number(owner, "score_bias", score_bias)
        if noise < 0:
            raise four_part_error(
                f"{owner} got a negative noise",
                "a standard deviation >= 0",
                f"noise={abbreviated(noise)}",
                "Use 0 to switch it off",
            )
        check_choice(owner, "inference", inference, ("hard", "soft"))
        check_choice(owner, "form", form, tuple(FORMS))
        self.noise, self.score_bias = noise, score_bias
        self.inference, self.form, self.seed = inference, form, seed
        self.walk = _Walk(noise, inference, form, seed, name="walk")

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        initial = keras.initializers.Constant(self.score_bias)
        self.r = self.add_weight(
            name="r", shape=(), initializer=initial, autocast=False
        )

    def first(self, memory):
        return first_position(memory.values, memory.mask)

    def align(self, scores, query, memory, past, training=None):
        checks.check_past(type(self).__name__, past, query, "[batch, ..., source]")
        e = at_least_float32(scores)
        e = e + ops.cast(self.r, e.dtype)  # Raffel (11)
        real = memory.mask
        if real is not None:
            real = per_query(real, len(e.shape))
        alignment = self.walk(e, past, real=real, **training_kwargs(training))
        return alignment, alignment

    def get_config(self):
        return {
            **super().get_config(),
            "noise": self.noise,
            "score_bias": self.score_bias,
            "inference": self.inference,
            "form": self.form,
            "seed": self.seed,
        }


class _Walk(keras.layers.Layer):
    """From scores to the alignment: soft in training, hard at inference.

    It is a layer so that Keras fills in `training` where it is not passed, as for
    dropout. It casts nothing: alignments need float32.
    """

    def __init__(self, noise, inference, form, seed, **kwargs):
        super().__init__(autocast=False, **kwargs)
        self.noise, self.inference, self.form = noise, inference, form
        self.seed_generator = keras.random.SeedGenerator(seed) if noise else None
        self.built = True  # no weights

    def call(self, e, past, real=None, training=False):
        if training and self.noise:
            dtype, seed = keras.backend.standardize_dtype(e.dtype), self.seed_generator
            noise = keras.random.normal(ops.shape(e), dtype=dtype, seed=seed)
            e = e + self.noise * noise
        choose = ops.sigmoid(e)  # Raffel (12)
        if real is not None:
            choose = ops.where(real, choose, 0.0)
        if training or self.inference == "soft":
            return FORMS[self.form](choose, past)
        return hard_monotonic_alignment(choose, past)
