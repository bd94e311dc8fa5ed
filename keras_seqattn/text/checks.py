"""Errors of texts, ids, vocabularies and options."""

import numpy as np
import tensorflow as tf
from keras import tree

from keras_seqattn.errors import four_part_error
from keras_seqattn.safe_reading import well_formed
from keras_seqattn.text.normalization import FORMS, WHITE_SPACE

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")


def check_normalization(owner, form):
    """A Unicode form has one of the known names."""
    if form is not None and form not in FORMS:
        raise four_part_error(
            f"{owner} got an unknown normalization",
            f"None or one of {list(FORMS)}",
            f"normalization={form!r}",
            "Use None to leave characters as they are",
        )


def check_vocabulary(owner, vocabulary):
    """Strings, none twice, the special ones in front."""
    is_list = isinstance(vocabulary, (list, tuple))
    if not is_list or not all(isinstance(piece, str) for piece in vocabulary):
        raise four_part_error(
            f"{owner} got an unusable vocabulary",
            "a list of str",
            repr(vocabulary),
            "Pass one str for each id",
        )
    for piece in vocabulary:
        if piece != well_formed(piece):
            raise four_part_error(
                f"{owner} got a vocabulary with a surrogate",
                "str that UTF-8 can write",
                repr(piece),
                "Drop it: U+FFFD stands for it in every text",
            )
    if tuple(vocabulary[: len(SPECIAL)]) != SPECIAL:
        raise four_part_error(
            f"{owner} got a vocabulary without the special tokens",
            f"{list(SPECIAL)} in front",
            f"{list(vocabulary[: len(SPECIAL)])}",
            f"Put them there, or learn one: {owner}.learn(texts)",
        )
    first = {}
    for at, piece in enumerate(vocabulary):
        if first.setdefault(piece, at) != at:
            raise four_part_error(
                f"{owner} got a vocabulary with a duplicate",
                "every token once",
                f"{piece!r} as {first[piece]} and as {at}",
                "Drop one",
            )


def check_characters(owner, pieces):
    """One code point each."""
    for piece in pieces:
        if len(piece) != 1:
            raise four_part_error(
                f"{owner} got a vocabulary with a longer piece",
                f"single characters after {list(SPECIAL)}",
                repr(piece),
                "Use SentencePiece or Words for longer ones",
            )


def check_words(owner, pieces):
    """What can stand between white space."""
    for piece in pieces:
        if not piece or any(character in WHITE_SPACE for character in piece):
            raise four_part_error(
                f"{owner} got a vocabulary with something that is no word",
                "str without white space, none empty",
                repr(piece),
                "Drop it: no text holds it as one word",
            )


def check_vocabulary_size(owner, size, least):
    """An integer that leaves room for what must be in a vocabulary."""
    if isinstance(size, bool) or not isinstance(size, int) or size < least:
        raise four_part_error(
            f"{owner}.learn got an unusable vocabulary_size",
            f"an integer, {least} or more (4 are special)",
            f"vocabulary_size={size!r}",
            "Raise it: most models have thousands",
        )


def string_batch(owner, texts):
    """Strings `[batch]`, and whether they were a scalar."""
    try:
        strings = strings_of(texts)
        rank = strings.shape.rank
    except (TypeError, ValueError):
        rank = None
    if rank not in (0, 1):
        raise four_part_error(
            f"{owner} got unusable texts",
            "a string or strings [batch]",
            f"{_spelled(texts)}",
            "Pass str, a list of str or a string tensor; reshape what has more axes",
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


def id_tensor(owner, ids):
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
        raise four_part_error(
            f"{owner} got unusable ids",
            "integers",
            f"{_spelled(ids)}",
            "Pass a tensor, a ragged tensor or lists of int",
        )
    return tf.cast(ids, tf.int32)


def check_sequences(owner, ids):
    """There is an axis along which one decodes."""
    if not ids.shape.rank:
        raise four_part_error(
            f"{owner} got ids without a length",
            "[..., length]",
            f"shape {ids.shape}",
            "Pass [id] for a single one",
        )


def _spelled(value):
    if isinstance(value, (tf.Tensor, tf.RaggedTensor)):
        return f"{value.dtype.name} {value.shape}"
    return repr(value)
