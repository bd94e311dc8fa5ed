"""Checks of texts, ids, vocabularies and options; conversion of texts and ids."""

import numpy as np
import tensorflow as tf
from keras import tree

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.safe_reading import well_formed
from keras_seqattn.text.normalization import FORMS, WHITE_SPACE

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")


def check_normalization(owner, form):
    """Check that a Unicode normal form is known."""
    if form is not None and form not in FORMS:
        raise four_part_error(
            f"{owner} got an unknown normalization",
            f"None or one of {list(FORMS)}",
            f"normalization={abbreviated(form)}",
            "Use None for no normalization",
        )


def check_vocabulary(owner, vocabulary, first_pieces):
    """Check that a vocabulary has different strings, and begins with some of them."""
    is_list = isinstance(vocabulary, (list, tuple))
    if not is_list or not all(isinstance(piece, str) for piece in vocabulary):
        raise four_part_error(
            f"{owner} got an unusable vocabulary",
            "a list of str",
            abbreviated(vocabulary),
            "Pass one str for each id",
        )
    for piece in vocabulary:
        if piece != well_formed(piece):
            raise four_part_error(
                f"{owner} got a vocabulary with a lone surrogate",
                "str that UTF-8 can encode",
                repr(piece),
                "Remove it: in every text U+FFFD replaces it",
            )
    if tuple(vocabulary[: len(first_pieces)]) != first_pieces:
        raise four_part_error(
            f"{owner} got a vocabulary without the special tokens",
            f"{list(first_pieces)} at the start",
            f"{list(vocabulary[: len(first_pieces)])}",
            f"Add them, or learn a vocabulary: {owner}.learn(texts)",
        )
    first = {}
    for at, piece in enumerate(vocabulary):
        if first.setdefault(piece, at) != at:
            raise four_part_error(
                f"{owner} got a vocabulary with a duplicate",
                "every token once",
                f"{piece!r} with the ids {first[piece]} and {at}",
                "Remove one of them",
            )


def check_special(owner, tokens, size):
    """Check that the special tokens of a text processor are in its vocabulary."""
    is_complete = isinstance(tokens, tuple) and len(tokens) == len(SPECIAL)
    if not is_complete or not all(i in range(size) for i in tokens):
        raise four_part_error(
            f"{owner} got unusable special tokens",
            f"SpecialTokens(pad, start, end, unknown) of ids from 0 to {size - 1}",
            f"tokens={abbreviated(tokens)}",
            "Set self.tokens before super().__init__; for a token that the vocabulary "
            "lacks, repeat the id of another one",
        )


def check_characters(owner, pieces):
    """Check that each piece is one code point."""
    for piece in pieces:
        if len(piece) != 1:
            raise four_part_error(
                f"{owner} got a vocabulary with a longer piece",
                f"single characters after {list(SPECIAL)}",
                repr(piece),
                "Use SentencePiece or Words for longer ones",
            )


def check_words(owner, pieces):
    """Check that each piece is a word: not empty, and without white space."""
    for piece in pieces:
        if not piece or any(character in WHITE_SPACE for character in piece):
            raise four_part_error(
                f"{owner} got a vocabulary with a piece that is not a word",
                "str that are not empty and have no white space",
                repr(piece),
                "Remove it: it is not one word in any text",
            )


def check_vocabulary_size(owner, size, least):
    """Check that a size is an integer with room for the tokens that are needed."""
    if isinstance(size, bool) or not isinstance(size, int) or size < least:
        raise four_part_error(
            f"{owner}.learn got an unusable vocabulary_size",
            f"an integer, {least} or more (4 tokens are special)",
            f"vocabulary_size={abbreviated(size)}",
            "Pass a larger size: most models have thousands of tokens",
        )


def string_batch(owner, texts):
    """Return strings `[batch]`, and whether the argument was a scalar."""
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
            "Pass str, a list of str or a string tensor with at most one axis",
        )
    return (strings, False) if rank else (strings[None], True)


def strings_of(texts):
    """Return a string tensor; a lone surrogate becomes U+FFFD, like invalid UTF-8.

    Every string that a user passes becomes a tensor here. A TypeError or ValueError
    means that the values are not strings, or not an array.
    """
    try:
        return tf.convert_to_tensor(texts, tf.string)
    except ValueError:  # TensorFlow does not say for which reason
        if tf.is_tensor(texts):
            raise
        texts = tree.map_structure(_repaired, np.asarray(texts, object).tolist())
        return tf.convert_to_tensor(texts, tf.string)


def _repaired(text):
    return well_formed(text) if isinstance(text, str) else text


def id_tensor(owner, ids):
    """Return ids as a tensor, ragged for lists of lists."""
    try:
        if isinstance(ids, (list, tuple)):
            ids = tf.ragged.constant(ids, dtype=tf.int32)
        elif not isinstance(ids, tf.RaggedTensor):
            ids = tf.convert_to_tensor(ids)
        usable = ids.dtype.is_integer
    except (TypeError, ValueError):
        usable = False
    if not usable:
        remedy = "Pass a tensor, a ragged tensor or lists of int"
        if hasattr(ids, "tokens"):
            remedy = "Of the result of decode, pass its tokens"
        elif "float" in str(getattr(ids, "dtype", "")):
            remedy = "Of logits, take the largest first: logits.argmax(axis=-1)"
        raise four_part_error(
            f"{owner} got unusable ids", "integers", f"{_spelled(ids)}", remedy
        )
    return tf.cast(ids, tf.int32)


def check_ids(owner, ids, size):
    """Check that ids are in the vocabulary, if their values are known."""
    if not tf.executing_eagerly():
        return
    values = ids.flat_values if isinstance(ids, tf.RaggedTensor) else ids
    values = values.numpy()
    outside = values[(values < 0) | (values >= size)]
    if outside.size:
        raise four_part_error(
            f"{owner} got ids outside of its vocabulary",
            f"integers in [0, {size})",
            abbreviated(outside.tolist()),
            "Check that the ids are of this text processor, and not of the other side",
        )


def check_sequences(owner, ids):
    """Check that ids have an axis to decode along."""
    if not ids.shape.rank:
        raise four_part_error(
            f"{owner} got ids without a length",
            "[..., length]",
            f"shape {ids.shape}",
            "Pass [id] for a single id",
        )


def _spelled(value):
    if isinstance(value, (tf.Tensor, tf.RaggedTensor)):
        return f"{value.dtype.name} {value.shape}"
    return abbreviated(value)
