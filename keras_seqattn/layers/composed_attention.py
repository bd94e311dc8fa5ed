"""A mechanism around another one."""

from typing import Any, NamedTuple

from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.parts.base import build_part, serialize_part
from keras_seqattn.layers.parts.steps import step_verb


class ComposedState(NamedTuple):
    """What a composed mechanism carries from query to query."""

    own: Any = ()
    inner: Any = ()  # the state of the inner attention


class ComposedAttention(Attention):
    """Base of the mechanisms that only align: the inner attention does the rest.

    The inner attention prepares the memory, scores it and reads it; its softmax is
    replaced. A subclass defines `align`, and `first` if it remembers something.

    Args:
        attention: the inner mechanism. A value projection and dropout are its own.
        **kwargs: of `keras.layers.Layer`.
    """

    parts = ("attention",)

    def __init__(self, attention, **kwargs):
        if getattr(type(attention), "attend", None) is not Attention.attend:
            raise four_part_error(
                f"{type(self).__name__} got an unusable attention",
                "a mechanism that aligns by a softmax over its score, because this "
                "softmax is what it replaces",
                repr(attention),
                "Pass an object, e.g. attention=LuongAttention('general')",
            )
        kwargs.setdefault("dtype", attention.dtype_policy)
        # Past Attention's constructor: its arguments are those of the inner attention.
        super(Attention, self).__init__(**kwargs)
        self.attention = attention

    @property
    def implementation(self):
        """That of the inner attention, for the loop over a whole sequence, too."""
        return self.attention.implementation

    def build(self, query_shape, value_shape):
        self.check_shapes(query_shape, value_shape)
        alignment_shape = self.alignment_shape(query_shape, value_shape)
        if len(alignment_shape) != len(query_shape):
            raise four_part_error(
                f"{type(self).__name__} got an attention with heads",
                "one alignment [batch, ..., source] for each query",
                f"{type(self.attention).__name__} with alignments of shape "
                f"{alignment_shape}",
                "Use a mechanism with a single alignment",
            )
        build_part(self, self.attention, query_shape, value_shape)

    @step_verb
    def prepare(self, value, mask=None):
        return self.attention.prepare(value, mask)

    def initial_state(self, memory):
        return ComposedState(self.first(memory), self.attention.initial_state(memory))

    @step_verb
    def attend(self, query, memory, state=(), training=None):
        own, inner = ComposedState(*(state or ()))  # a reloaded model gives lists
        scores = self.attention.score(query, memory, inner)
        alignment, own = self.align(scores, query, memory, own, training)
        state = ComposedState(own, self.attention.next_state(inner, alignment))
        return self.attention.read(alignment, memory, state, training)

    @property
    def sums_values(self):
        aligns_only = type(self).attend is ComposedAttention.attend
        return aligns_only and self.attention.sums_values

    def first(self, memory):
        """Its own part of the state before the first query, batch first."""
        return ()

    def align(self, scores, query, memory, past, training=None):
        """The alignment, float32 `[batch, ..., source]`, and the new past."""
        raise four_part_error(
            f"{type(self).__name__} has no alignment",
            "a subclass of ComposedAttention that defines align(scores, query, "
            "memory, past, training)",
            "none",
            "See CONTRIBUTING.md",
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
