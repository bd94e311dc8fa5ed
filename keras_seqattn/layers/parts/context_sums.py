"""Whether the contexts of a mechanism are weighted sums of its values."""

from keras_seqattn.layers.attention import Attention
from keras_seqattn.layers.composed_attention import ComposedAttention


def sums_values(attention):
    """Whether a context is the sum of the values, weighted by the alignment.

    It is, unless a subclass defines its own `attend` or `read`.
    """
    own = type(attention)
    if isinstance(attention, ComposedAttention):
        aligns = own.attend is ComposedAttention.attend
        return aligns and sums_values(attention.attention)
    if not isinstance(attention, Attention):
        return False
    return own.attend is Attention.attend and own.read is Attention.read
