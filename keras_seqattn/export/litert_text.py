"""Encodes and decodes texts with the operations that LiteRT has."""

from typing import Any, NamedTuple

import tensorflow as tf

from keras_seqattn.export.litert_characters import (
    OWNER,
    CodeTable,
    changed_characters,
    character_normalizer,
    code_points,
    joiner,
    utf8_encoder,
)
from keras_seqattn.text.characters import Characters
from keras_seqattn.text.checks import SPECIAL
from keras_seqattn.text.normalization import SPACE, WHITE_SPACE
from keras_seqattn.text.optional_packages import tensorflow_text
from keras_seqattn.text.sentence_piece import SentencePiece
from keras_seqattn.text.word_piece import START, WordPiece


class ReadIds(NamedTuple):
    """The ids that a model reads of texts, with the end token."""

    ids: Any  # int32 [batch, source], padded
    lengths: Any  # int32 [batch]
    cut: Any  # bool [batch], whether the end of the text was not read
    blank: Any  # bool [batch], whether the text is blank, see `are_blank`


def reader(text, length):
    """Return a function from strings `[batch]` to `ReadIds`, `length` ids each."""
    if isinstance(text, Characters):
        return _character_reader(text, length)
    return _subword_reader(text, length)


def writer(text):
    """Return a function from padded ids `[batch, length]` to strings `[batch]`.

    The first token of a text is written without the space before it.
    """
    size, other = text.vocabulary_size, text.tokens.unknown
    starts = text.decode([[i] for i in range(size)]).numpy()
    behind = text.decode([[other, i] for i in range(size)]).numpy()
    skipped = len(starts[other])
    spellings = [*starts, *(row[skipped:] for row in behind)]
    units = {unit: i for i, unit in enumerate(sorted({*spellings} - {b""}))}
    numbers = tf.constant([units.get(spelling, -1) for spelling in spellings])
    join = joiner(list(units))

    def write(ids):
        ids = tf.concat([ids[:, :1], ids[:, 1:] + size], axis=1)
        unit_numbers = tf.gather(numbers, ids)
        kept = unit_numbers >= 0
        flat = _select(kept, unit_numbers, _count(kept) == 1)
        return join(*flat, _splits(kept))

    return write


def pieces(text, ids):
    """Return the piece of each id, "" for padding."""
    spelled = list(text.vocabulary)
    spelled[text.tokens.pad] = ""
    return tf.gather(tf.constant(spelled), ids)


def _character_reader(text, length):
    known = enumerate(text.vocabulary[len(SPECIAL) :], start=len(SPECIAL))
    ids = {ord(character): i for i, character in known}
    unknown = text.tokens.unknown
    ids |= {old: ids.get(new, unknown) for old, new in changed_characters(text).items()}
    table = CodeTable(ids, unknown)

    def read(texts):
        codes, sizes = code_points(texts, length)
        ids, lengths = _ended(text, table(codes), sizes)
        return ReadIds(ids, lengths, sizes >= length, _are_blank(codes, lengths))

    return read


def _subword_reader(text, length):
    longest = max(map(len, text.vocabulary))
    count = length * (longest + 1)
    normalize = character_normalizer(text)
    is_sentence_piece = isinstance(text, SentencePiece)
    segmenter = _sentence_segmenter if is_sentence_piece else _word_segmenter
    segment = segmenter(text)

    def read(texts):
        codes, sizes = code_points(texts, count)
        values, splits = segment(*_spaced(normalize(codes), sizes))
        splits = tf.reshape(tf.cast(splits, tf.int32), [texts.shape[0] + 1])
        values = tf.concat([values, [text.tokens.pad]], axis=0)
        places = tf.minimum(splits[:-1, None] + tf.range(length), splits[-1])
        counts = splits[1:] - splits[:-1]
        ids, lengths = _ended(text, tf.gather(values, places), counts)
        cut = (counts >= length) | (sizes == count)
        return ReadIds(ids, lengths, cut, _are_blank(codes, lengths))

    return read


def _spaced(codes, sizes):
    """Return code points, a mask of words, and a mask of one space before each word.

    All are `[batch, count + 1]`. Positions in neither mask are padding or more spaces.
    """
    codes = tf.pad(codes, [[0, 0], [1, 0]], constant_values=SPACE)
    words = (codes != SPACE) & (tf.range(codes.shape[1]) <= sizes[:, None])
    follows = tf.concat([words[:, 1:], words[:, :1]], axis=1)
    return codes, words, follows & ~words


def _word_segmenter(text):
    """Return a function from the results of `_spaced` to ids and row splits."""
    is_word_piece = isinstance(text, WordPiece)
    mark = START if is_word_piece else " "
    known = text.vocabulary[len(SPECIAL) :]
    # For `Words`: a whole word is a piece that no other piece can follow.
    vocabulary = known if is_word_piece else [mark + word for word in known]
    special = [f"  {piece}" for piece in SPECIAL]  # two spaces, so no word equals one
    tokenizer = tensorflow_text(OWNER).FastWordpieceTokenizer(
        [*special, *vocabulary],
        suffix_indicator="",
        max_bytes_per_word=2**30,
        token_out_type=tf.int32,
        unknown_token=special[text.tokens.unknown],
        no_pretokenization=True,
    )
    encode = utf8_encoder()

    def segment(codes, words, spaces):
        codes = tf.where(spaces, ord(mark), codes)
        codes, first = _select(words | spaces, codes, spaces)
        starts = tf.cast(tf.where(first)[:, 0], tf.int32)
        splits = tf.concat([starts, tf.shape(codes)], axis=0)
        ids = tokenizer.tokenize(encode(codes, first, splits))
        return ids.values, tf.gather(ids.row_splits, _splits(spaces))

    return segment


def _sentence_segmenter(text):
    """Return a function as `_word_segmenter` does, with spaces inside of pieces."""
    tokenizer = tensorflow_text(OWNER).FastSentencepieceTokenizer(text._to_bytes())
    encode = utf8_encoder()

    def segment(codes, words, spaces):
        kept = words | (spaces & (_count(words) > 0))
        codes, first = _select(kept, codes, _count(kept) == 1)
        ids = tokenizer.tokenize(encode(codes, first, _splits(kept)))
        return ids.values, ids.row_splits

    return segment


def _select(kept, *tensors):
    """Yield the kept elements of tensors `[batch, count]`, flat."""
    places = tf.where(tf.reshape(kept, [-1]))[:, 0]
    return (tf.gather(tf.reshape(x, [-1]), places) for x in tensors)


def _count(flags):
    return tf.cumsum(tf.cast(flags, tf.int32), axis=1)


def _splits(flags):
    """Return the row splits of the elements that are True."""
    return tf.concat([[0], tf.cumsum(_count(flags)[:, -1])], axis=0)


def _ended(text, ids, sizes):
    """Cut ids to `sizes` and the room, add the end token; return them and lengths."""
    length = ids.shape[1]
    lengths, at = tf.minimum(sizes, length - 1)[:, None], tf.range(length)
    ids = tf.where(at < lengths, ids, text.tokens.pad)
    return tf.where(at == lengths, text.tokens.end, ids), lengths[:, 0] + 1


def _are_blank(codes, lengths):
    spaces = tf.constant([0, *map(ord, WHITE_SPACE)])  # 0 is the padding
    is_white = tf.reduce_any(codes[..., None] == spaces, axis=-1)
    return tf.reduce_all(is_white, axis=1) | (lengths == 1)
