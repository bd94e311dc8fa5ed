"""Luong et al. 2015: local attention."""

import contextlib
import contextvars

import keras
from keras import ops

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.composed_attention import ComposedAttention
from keras_seqattn.layers.composite import clone_initializer
from keras_seqattn.layers.parts import checks
from keras_seqattn.ops import dispatch
from keras_seqattn.ops.align import (
    LOWEST,
    gaussian,
    position_window,
    predicted_position,
)
from keras_seqattn.ops.mask import per_query, row_positions
from keras_seqattn.ops.precision import at_least_float32

POSITIONS = ("monotonic", "predictive")
_SEEN = contextvars.ContextVar("seen", default=None)  # in `predicted_centres`, a list


@contextlib.contextmanager
def predicted_centres():
    """Record the positions p_t that "predictive" queries predict, to look at a model.

    It yields a list. Each query that attends inside of the `with` block adds its p_t,
    as `LocalAttention.predict_position` returns it. Use it for eager steps: code that
    is traced inside adds a tensor of its graph.
    """
    centres = []
    token = _SEEN.set(centres)
    try:
        yield centres
    finally:
        _SEEN.reset(token)


@keras.saving.register_keras_serializable(package="keras_seqattn")
class LocalAttention(ComposedAttention):
    """Attends to a window of the source, `[p_t - D, p_t + D]`.

    "monotonic" (local-m): the t-th query looks around the t-th source position; when t
    has passed the end of the source by more than D, nothing is left in the window and
    alignment and context are zero. "predictive" (local-p): the query predicts p_t,
    and positions near p_t are favoured; the product is not normalised again, so
    that alignments sum to less than 1.

    Source positions are counted from 1, and S is their number. Padding is not counted:
    it may follow the sentence, or be before it.

    Args:
        attention: the mechanism that prepares, scores and reads, e.g.
            `LuongAttention("general")`; a value projection and dropout are its own.
        window: D, an integer.
        position: "monotonic" or "predictive".
        units: for "predictive", the hidden size of W_p; None: the depth of the query.
        kernel_initializer: for "predictive", of W_p and v_p; None: Glorot's.
        **kwargs: of `keras.layers.Layer`.

    Call arguments, Returns: those of `Attention`.

    Equations:
        p_t = t, or
        p_t = S * sigmoid(v_p . tanh(W_p query))  Luong (9)
        alignment[b, s] = softmax(e[b, s] : |s - p_t| <= D)  Luong (7)
        "predictive": alignment[b, s] * exp(-(s - p_t)^2 / (2 * (D / 2)^2))
            Luong (10)

    Shapes:
        query: [batch, target, query_depth]
        value: [batch, source, memory_depth]
        context: [batch, target, memory_depth]
        alignment: [batch, target, source]

    Example:
        >>> attention = LocalAttention(LuongAttention("general"), window=1)
        >>> query, value = keras.ops.ones((1, 3, 4)), keras.ops.ones((1, 5, 6))
        >>> _, alignment = attention(query, value, return_attention_scores=True)
        >>> keras.ops.convert_to_numpy(alignment[0] > 0).astype(int)
        array([[1, 1, 0, 0, 0],
               [1, 1, 1, 0, 0],
               [0, 1, 1, 1, 0]])

    References:
        Luong, Pham, Manning 2015, arXiv:1508.04025.
    """

    def __init__(
        self,
        attention,
        window=10,
        position="monotonic",
        units=None,
        kernel_initializer=None,
        **kwargs,
    ):
        super().__init__(attention, **kwargs)
        owner = type(self).__name__
        check_count(owner, "window", window)
        check_choice(owner, "position", position, POSITIONS)
        if units is not None:
            check_count(owner, "units", units)
        for name, value in (
            ("units", units),
            ("kernel_initializer", kernel_initializer),
        ):
            if value is not None and position != "predictive":
                raise four_part_error(
                    f"{owner} got {name} for a position that has no weights",
                    "it only with position='predictive'",
                    f"{name}={abbreviated(value)} with position={position!r}",
                    f"Drop {name}, or change the position",
                )
        self.window, self.position, self.units = window, position, units
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        if position == "predictive" and kernel_initializer is None:
            self.kernel_initializer = keras.initializers.GlorotUniform()

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        if self.position == "predictive":
            units = self.units or query_shape[-1]
            self.position_projection = self.make_projection(
                units, "position_projection"
            )
            self.position_projection.build(query_shape)  # W_p
            self.v_p = self.add_weight(
                name="v_p",
                shape=(units,),
                initializer=clone_initializer(self.kernel_initializer),
            )

    @ComposedAttention.step_verb
    def prepare(self, value, mask=None, key=None):
        memory = super().prepare(value, mask, key)
        return memory._replace(positions=row_positions(mask, value))

    def first(self, memory):
        if self.position == "predictive":
            return ()
        return ops.zeros(ops.shape(memory.values)[:1], "int32")  # steps taken

    def align(self, scores, query, memory, past, training=None):
        if self.position == "monotonic":
            checks.check_past(type(self).__name__, past, query, "[batch, ...]")
            center = past = past + 1  # p_t = t
        else:
            center = self.predict_position(query, memory)
            if _SEEN.get() is not None:
                _SEEN.get().append(center)
        distances, mask = position_window(center, memory.positions, self.window)
        if memory.mask is not None:
            mask = ops.logical_and(mask, per_query(memory.mask, len(mask.shape)))
        scores = at_least_float32(scores)
        # A "location" score does not reach the positions behind its maximum_source.
        mask = ops.logical_and(mask, scores > LOWEST)
        alignment = dispatch.masked_softmax(scores, mask)  # Luong (7)
        if self.position == "predictive":
            alignment = alignment * gaussian(distances, self.window)  # Luong (10)
        return alignment, past

    def predict_position(self, query, memory):
        """p_t of a query, float32 `[batch, ...]`, counted from 1."""
        positions = memory.positions
        if memory.mask is not None:
            positions = ops.where(memory.mask, positions, 0)
        lengths = ops.cast(ops.max(positions, axis=1), "float32")  # S
        query, v = self.position_projection(query), self.compute_weight(self.v_p)
        return predicted_position(lengths, query, v)

    def get_config(self):
        return {
            **super().get_config(),
            "window": self.window,
            "position": self.position,
            "units": self.units,
            "kernel_initializer": self.kernel_initializer
            and keras.initializers.serialize(self.kernel_initializer),
        }
