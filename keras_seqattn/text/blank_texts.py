"""Which texts are blank: their translation is the empty text."""

import tensorflow as tf

from keras_seqattn.text.normalization import WHITE_SPACE

_WHITE = f"[{WHITE_SPACE}]*"


def are_blank(texts, lengths):
    """Whether texts are empty, white space, or nothing after the normalisation.

    Args:
        texts: strings `[batch]`.
        lengths: their numbers of tokens `[batch]`, the end token included.

    Returns:
        bool `[batch]`.

    Example:
        >>> are_blank(["a", "", " \\t"], tf.constant([2, 1, 3])).numpy().tolist()
        [False, True, True]
    """
    return tf.strings.regex_full_match(texts, _WHITE) | (lengths == 1)
