"""Texts to ids and back with the operations that LiteRT has."""

from typing import Any, NamedTuple

import tensorflow as tf

from keras_seqattn.export.litert_characters import (
    OWNER,
    CodeTable,
    changer,
    code_points,
    encoder,
    joiner,
    letters,
)
from keras_seqattn.text.characters import Characters
from keras_seqattn.text.checks import SPECIAL
from keras_seqattn.text.normalization import SPACE, WHITE_SPACE
from keras_seqattn.text.optional_packages import tensorflow_text
from keras_seqattn.text.sentence_piece import SentencePiece
from keras_seqattn.text.word_piece import START, WordPiece


class ReadIds(NamedTuple):
    """What a model reads of texts, the end token included."""

    ids: Any  # int32 [batch, source], padded
    lengths: Any  # int32 [batch]
    cut: Any  # bool [batch], whether something behind them was not read
    blank: Any  # bool [batch], whether there is nothing but white space


def reader(text, length):
    """A function from strings `[batch]` to `ReadIds`, `length` ids for each."""
    if isinstance(text, Characters):
        return _character_reader(text, length)
    return _subword_reader(text, length)


def writer(text):
    """A function from ids `[batch, length]`, padded, to strings `[batch]`.

    A token at the start of a text is written without the space in front of it.
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
        at = tf.gather(numbers, tf.concat([ids[:, :1], ids[:, 1:] + size], axis=1))
        kept = at >= 0
        return join(*_chosen(kept, at, _count(kept) == 1), _splits(kept))

    return write


def pieces(text, ids):
    """The piece of each id, "" for padding."""
    spelled = list(text.vocabulary)
    spelled[text.tokens.pad] = ""
    return tf.gather(tf.constant(spelled), ids)


def _character_reader(text, length):
    known = enumerate(text.vocabulary[len(SPECIAL) :], start=len(SPECIAL))
    ids = {ord(character): i for i, character in known}
    unknown = text.tokens.unknown
    ids |= {old: ids.get(new, unknown) for old, new in letters(text).items()}
    table = CodeTable(ids, unknown)

    def read(texts):
        codes, sizes = code_points(texts, length)
        ids, lengths = _ended(text, table(codes), sizes)
        return ReadIds(ids, lengths, sizes >= length, _is_blank(codes))

    return read


def _subword_reader(text, length):
    longest = max(map(len, text.vocabulary))
    count = length * (longest + 1)
    change = changer(text)
    is_whole = isinstance(text, SentencePiece)
    segment = _sentence_segmenter(text) if is_whole else _word_segmenter(text)

    def read(texts):
        codes, sizes = code_points(texts, count)
        values, splits = segment(*_spaced(change(codes), sizes))
        splits = tf.reshape(tf.cast(splits, tf.int32), [texts.shape[0] + 1])
        values = tf.concat([values, [text.tokens.pad]], axis=0)
        places = tf.minimum(splits[:-1, None] + tf.range(length), splits[-1])
        found = splits[1:] - splits[:-1]
        ids, lengths = _ended(text, tf.gather(values, places), found)
        cut = (found >= length) | (sizes == count)
        return ReadIds(ids, lengths, cut, _is_blank(codes))

    return read


def _spaced(codes, sizes):
    """Code points, words with one space in front; which are words, which are spaces.

    All `[batch, count + 1]`; what is neither is not there.
    """
    codes = tf.pad(codes, [[0, 0], [1, 0]], constant_values=SPACE)
    words = (codes != SPACE) & (tf.range(codes.shape[1]) <= sizes[:, None])
    follows = tf.concat([words[:, 1:], words[:, :1]], axis=1)
    return codes, words, follows & ~words


def _word_segmenter(text):
    """From what `_spaced` returns to ids and where those of each text begin."""
    is_word_piece = isinstance(text, WordPiece)
    mark = START if is_word_piece else " "
    known = text.vocabulary[len(SPECIAL) :]
    # Whole words are pieces behind which no other one can follow.
    vocabulary = known if is_word_piece else [mark + word for word in known]
    special = [f"  {piece}" for piece in SPECIAL]  # two spaces: in no word
    tokenizer = tensorflow_text(OWNER).FastWordpieceTokenizer(
        [*special, *vocabulary],
        suffix_indicator="",
        max_bytes_per_word=2**30,
        token_out_type=tf.int32,
        unknown_token=special[text.tokens.unknown],
        no_pretokenization=True,
    )
    encode = encoder()

    def segment(codes, words, spaces):
        codes = tf.where(spaces, ord(mark), codes)
        codes, first = _chosen(words | spaces, codes, spaces)
        starts = tf.cast(tf.where(first)[:, 0], tf.int32)
        splits = tf.concat([starts, tf.shape(codes)], axis=0)
        ids = tokenizer.tokenize(encode(codes, first, splits))
        return ids.values, tf.gather(ids.row_splits, _splits(spaces))

    return segment


def _sentence_segmenter(text):
    """The same with the spaces inside of the texts."""
    tokenizer = tensorflow_text(OWNER).FastSentencepieceTokenizer(text._to_bytes())
    encode = encoder()

    def segment(codes, words, spaces):
        kept = words | (spaces & (_count(words) > 0))
        codes, first = _chosen(kept, codes, _count(kept) == 1)
        ids = tokenizer.tokenize(encode(codes, first, _splits(kept)))
        return ids.values, ids.row_splits

    return segment


def _chosen(kept, *tensors):
    """What is kept of tensors `[batch, count]`, flat."""
    places = tf.where(tf.reshape(kept, [-1]))[:, 0]
    return (tf.gather(tf.reshape(x, [-1]), places) for x in tensors)


def _count(flags):
    return tf.cumsum(tf.cast(flags, tf.int32), axis=1)


def _splits(flags):
    """Where each row begins if only what is true is there, and the end of all."""
    return tf.concat([[0], tf.cumsum(_count(flags)[:, -1])], axis=0)


def _ended(text, ids, sizes):
    """The first `sizes` ids, as far as there is room, the end token, padding."""
    length = ids.shape[1]
    lengths, at = tf.minimum(sizes, length - 1)[:, None], tf.range(length)
    ids = tf.where(at < lengths, ids, text.tokens.pad)
    return tf.where(at == lengths, text.tokens.end, ids), lengths[:, 0] + 1


def _is_blank(codes):
    spaces = tf.constant([0, *map(ord, WHITE_SPACE)])  # and what is behind the text
    blank = tf.reduce_any(codes[..., None] == spaces, axis=-1)
    return tf.reduce_all(blank, axis=1)
