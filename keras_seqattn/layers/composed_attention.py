"""The base of the mechanisms that contain another one."""

from typing import Any, NamedTuple

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.parts.nested_layers import build_part, serialize_part


class ComposedState(NamedTuple):
    """The state of a composed mechanism."""

    own: Any = ()
    inner: Any = ()  # the state of the inner attention


class ComposedAttention(Attention):
    """Base of the mechanisms that replace the softmax of another one.

    The inner attention prepares the memory, scores it and reads it. A subclass defines
    `align`, and `first` if it has a state.

    Args:
        attention: the inner mechanism. A value projection and dropout are its own.
        **kwargs: of `keras.layers.Layer`.
    """

    parts = ("attention",)
    takes_mask_per_query = False

    def __init__(self, attention, **kwargs):
        if getattr(type(attention), "attend", None) is not Attention.attend:
            raise four_part_error(
                f"{type(self).__name__} got an unusable attention",
                "a mechanism that aligns by a softmax over its score, because this "
                "softmax is what it replaces",
                abbreviated(attention),
                "Pass an object, e.g. attention=LuongAttention('general')",
            )
        kwargs.setdefault("dtype", attention.dtype_policy)
        # Not Attention's constructor: the inner attention has its arguments.
        super(Attention, self).__init__(**kwargs)
        self.attention = attention

    @property
    def implementation(self):
        """The implementation of the inner attention."""
        return self.attention.implementation

    def build(self, query_shape, value_shape, key_shape=None):
        self._check_shapes(query_shape, value_shape, key_shape)
        alignment_shape = self.alignment_shape(query_shape, value_shape)
        if len(alignment_shape) != len(query_shape):
            raise four_part_error(
                f"{type(self).__name__} got an attention with heads",
                "one alignment [batch, ..., source] for each query",
                f"{type(self.attention).__name__} with alignments of shape "
                f"{alignment_shape}",
                "Use a mechanism with a single alignment",
            )
        own = () if key_shape is None else (key_shape,)
        build_part(self, self.attention, query_shape, value_shape, *own)

    @property
    def takes_key(self):
        return super().takes_key and self.attention.takes_key

    @Attention.step_verb
    def prepare(self, value, mask=None, key=None):
        own = () if key is None else (key,)
        return self.attention.prepare(value, mask, *own)

    def initial_state(self, memory):
        return ComposedState(self.first(memory), self.attention.initial_state(memory))

    @Attention.step_verb
    def attend(self, query, memory, state=(), training=None):
        own, inner = ComposedState(*(state or ()))  # a reloaded model gives lists
        scores = self.attention.score(query, memory, inner)
        alignment, own = self.align(scores, query, memory, own, training)
        state = ComposedState(own, self.attention.next_state(inner, alignment))
        return self.attention.read(alignment, memory, state, training)

    def first(self, memory):
        """The own part of the state before the first query, batch first."""
        return ()

    def align(self, scores, query, memory, past, training=None):
        """The alignment, float32 `[batch, ..., source]`, and the new past."""
        raise four_part_error(
            f"{type(self).__name__} has no alignment",
            "a subclass of ComposedAttention that defines align(scores, query, "
            "memory, past, training)",
            "none",
            "Define it; it returns the alignment and the new past",
            kind=NotImplementedError,
        )

    def score(self, query, memory, state=()):
        inner = ComposedState(*(state or ())).inner
        return self.attention.score(query, memory, inner)

    def compute_output_shape(self, query_shape, value_shape):
        return self.attention.compute_output_shape(query_shape, value_shape)

    def alignment_shape(self, query_shape, value_shape):
        return self.attention.alignment_shape(query_shape, value_shape)

    def check_shapes(self, query_shape, value_shape):
        self.attention.check_shapes(query_shape, value_shape)

    def get_config(self):
        config = super(Attention, self).get_config()
        return {**config, "attention": serialize_part(self.attention)}
