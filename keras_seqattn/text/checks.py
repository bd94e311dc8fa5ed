"""Errors of texts, ids, vocabularies and options."""

import numpy as np
import tensorflow as tf
from keras import tree

from keras_seqattn.safe_reading import well_formed
from keras_seqattn.text.normalization import FORMS, WHITE_SPACE

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")


def check_normalization(owner, form):
    """A Unicode form has one of the known names."""
    if form is not None and form not in FORMS:
        raise ValueError(
            f"{owner} got an unknown normalization. Expected None or one of "
            f"{list(FORMS)}, received normalization={form!r}. Use None to leave "
            "characters as they are."
        )


def check_vocabulary(owner, vocabulary):
    """Strings, none twice, the special ones in front."""
    is_list = isinstance(vocabulary, (list, tuple))
    if not is_list or not all(isinstance(piece, str) for piece in vocabulary):
        raise ValueError(
            f"{owner} got an unusable vocabulary. Expected a list of str, received "
            f"{vocabulary!r}. Pass one str for each id."
        )
    for piece in vocabulary:
        if piece != well_formed(piece):
            raise ValueError(
                f"{owner} got a vocabulary with a surrogate. Expected str that UTF-8 "
                f"can write, received {piece!r}. Drop it: U+FFFD stands for it in "
                "every text."
            )
    if tuple(vocabulary[: len(SPECIAL)]) != SPECIAL:
        raise ValueError(
            f"{owner} got a vocabulary without the special tokens. Expected "
            f"{list(SPECIAL)} in front, received {list(vocabulary[: len(SPECIAL)])}. "
            f"Put them there, or learn one: {owner}.learn(texts)."
        )
    first = {}
    for at, piece in enumerate(vocabulary):
        if first.setdefault(piece, at) != at:
            raise ValueError(
                f"{owner} got a vocabulary with a duplicate. Expected every token "
                f"once, received {piece!r} as {first[piece]} and as {at}. Drop one."
            )


def check_characters(owner, pieces):
    """One code point each."""
    for piece in pieces:
        if len(piece) != 1:
            raise ValueError(
                f"{owner} got a vocabulary with a longer piece. Expected single "
                f"characters after {list(SPECIAL)}, received {piece!r}. Use "
                "SentencePiece or Words for longer ones."
            )


def check_words(owner, pieces):
    """What can stand between white space."""
    for piece in pieces:
        if not piece or any(character in WHITE_SPACE for character in piece):
            raise ValueError(
                f"{owner} got a vocabulary with something that is no word. Expected "
                f"str without white space, none empty, received {piece!r}. Drop it: no "
                "text holds it as one word."
            )


def check_vocabulary_size(owner, size, least):
    """An integer that leaves room for what must be in a vocabulary."""
    if isinstance(size, bool) or not isinstance(size, int) or size < least:
        raise ValueError(
            f"{owner}.learn got an unusable vocabulary_size. Expected an integer, "
            f"{least} or more (4 are special), received vocabulary_size={size!r}. "
            "Raise it: most models have thousands."
        )


def batch_of(owner, texts):
    """Strings `[batch]`, and whether they were a scalar."""
    try:
        strings = strings_of(texts)
        rank = strings.shape.rank
    except (TypeError, ValueError):
        rank = None
    if rank not in (0, 1):
        raise ValueError(
            f"{owner} got unusable texts. Expected a string or strings [batch], "
            f"received {_spelled(texts)}. Pass str, a list of str or a string tensor; "
            "reshape what has more axes."
        )
    return (strings, False) if rank else (strings[None], True)


def strings_of(texts):
    """A tensor of strings; a lone surrogate becomes U+FFFD, as invalid UTF-8 does.

    Every string that a user passes becomes a tensor here. TypeError or ValueError:
    they are no strings, or no array.
    """
    try:
        return tf.convert_to_tensor(texts, tf.string)
    except ValueError:  # for any reason: TensorFlow does not say which
        if tf.is_tensor(texts):
            raise
        texts = tree.map_structure(_repaired, np.asarray(texts, object).tolist())
        return tf.convert_to_tensor(texts, tf.string)


def _repaired(text):
    return well_formed(text) if isinstance(text, str) else text


def ids_of(owner, ids):
    """Ids as a tensor, ragged for lists of lists."""
    try:
        if isinstance(ids, (list, tuple)):
            ids = tf.ragged.constant(ids, dtype=tf.int32)
        elif not isinstance(ids, tf.RaggedTensor):
            ids = tf.convert_to_tensor(ids)
        usable = ids.dtype.is_integer
    except (TypeError, ValueError):
        usable = False
    if not usable:
        raise ValueError(
            f"{owner} got unusable ids. Expected integers, received {_spelled(ids)}. "
            "Pass a tensor, a ragged tensor or lists of int."
        )
    return tf.cast(ids, tf.int32)


def check_sequences(owner, ids):
    """There is an axis along which one decodes."""
    if not ids.shape.rank:
        raise ValueError(
            f"{owner} got ids without a length. Expected [..., length], received shape "
            f"{ids.shape}. Pass [id] for a single one."
        )


def _spelled(value):
    if isinstance(value, (tf.Tensor, tf.RaggedTensor)):
        return f"{value.dtype.name} {value.shape}"
    return repr(value)
