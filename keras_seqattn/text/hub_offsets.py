"""Byte offsets of the tokens of KerasHub's tokenizers, which return ids only.

Each class takes apart a text as its kind of tokenizer does, and keeps the offsets.
"""

import hashlib

import numpy as np
import tensorflow as tf

from keras_seqattn.text.normalization import (
    code_points,
    drop_marks,
    fold,
    ragged_rows,
    row_of,
)

# The characters at which BERT splits a text: white space, punctuation, ideographs.
_SPACE = r"\s|\p{Cc}|\p{Cf}"
_PUNCTUATION = r"[!-/]|[:-@]|[\[-`]|[{-~]|[\p{P}]"
_IDEOGRAPH = "|".join(
    rf"[\x{{{first}}}-\x{{{last}}}]"
    for first, last in (
        *(("4E00", "9FFF"), ("3400", "4DBF"), ("20000", "2A6DF"), ("2A700", "2B73F")),
        *(("2B740", "2B81F"), ("2B820", "2CEAF"), ("F900", "FAFF"), ("2F800", "2FA1F")),
    )
)
_PREFIX_SPACE = "Ġ"  # how byte-level BPE spells a space


class WordPieceOffsets:
    """The offsets of BERT's pieces of words.

    Args:
        library: the module `tensorflow_text`.
        tokenizer: `keras_hub.tokenizers.WordPieceTokenizer`.
    """

    def __init__(self, library, tokenizer):
        self._library, self._lowercase = library, tokenizer.lowercase
        self._strip_accents = tokenizer.strip_accents
        ideograph = [_IDEOGRAPH] if tokenizer.split_on_cjk else []
        self._kept = "|".join([_PUNCTUATION, *ideograph])
        self._pieces = library.FastWordpieceTokenizer(
            tokenizer.get_vocabulary(),
            suffix_indicator=tokenizer.suffix_indicator,
            unknown_token=tokenizer.oov_token,
            token_out_type=tf.int32,
            no_pretokenization=True,
        )

    def __call__(self, texts, ids):
        """Return starts and ends, ragged `[batch, None]`, of texts and their ids."""
        points = code_points(texts)
        if self._strip_accents:
            points = drop_marks(self._library, points)
        words, word_starts, _ = self._library.regex_split_with_offsets(
            points.text(), f"{_SPACE}|{self._kept}", self._kept
        )
        folded = code_points(words.values)
        if self._lowercase:
            folded = fold(self._library, folded)
        pieces, starts, ends = self._pieces.tokenize_with_offsets(folded.text())
        in_words = folded.original_bytes(starts.values, ends.values, pieces.row_splits)
        first = tf.gather(word_starts.values, row_of(pieces.row_splits))
        splits = tf.gather(pieces.row_splits, words.row_splits)
        bounds = points.original_bytes(*(first + x for x in in_words), splits)
        return ragged_rows(splits, *bounds)


class BytePairOffsets:
    """The offsets of byte-level BPE, whose pieces have a character for each byte.

    Args:
        pieces: strings `[vocabulary]`.
        add_prefix_space: whether the tokenizer puts a space in front of a text.
    """

    def __init__(self, pieces, add_prefix_space):
        self._sizes = tf.cast(tf.strings.length(pieces, "UTF8_CHAR"), tf.int64)
        is_spaced = tf.strings.regex_full_match(pieces, f"{_PREFIX_SPACE}.+")
        self._spaces = tf.cast(is_spaced, tf.int64)
        self._added = int(add_prefix_space)

    def __call__(self, texts, ids):
        """Return starts and ends, ragged `[batch, None]`, of texts and their ids."""
        sizes = tf.gather(self._sizes, ids.values)
        before = tf.cumsum(sizes, exclusive=True)
        first = tf.gather(tf.concat([before, [0]], axis=0), ids.row_splits[:-1])
        starts = before - tf.gather(first, row_of(ids.row_splits)) - self._added
        ends = starts + sizes
        starts += tf.gather(self._spaces, ids.values)  # the space is not in the word
        return ragged_rows(ids.row_splits, tf.maximum(starts, 0), tf.maximum(ends, 0))


class SentencePieceOffsets:
    """The offsets of a SentencePiece model, and its ids, which a tokenizer may shift.

    KerasHub keeps one TensorFlow tokenizer, which `keras.utils.clear_session` breaks
    (tensorflow/text#570). So a new one reads and writes, at every use.

    Args:
        library: the module `tensorflow_text`.
        tokenizer: `keras_hub.tokenizers.SentencePieceTokenizer`.
        pieces: strings `[vocabulary]`.
    """

    def __init__(self, library, tokenizer, pieces):
        self._library, self._model = library, tokenizer.proto
        self._digest = hashlib.sha256(tokenizer.proto).hexdigest()
        model = self._new()
        names = model.id_to_string(tf.range(model.vocab_size())).numpy()
        shifted = np.array([tokenizer.token_to_id(x.decode()) for x in names], np.int32)
        own = np.full(len(pieces), tokenizer.token_to_id("<unk>"), np.int32)
        own[shifted[::-1]] = np.arange(len(shifted), dtype=np.int32)[::-1]
        self._shifted, self._own = tf.constant(shifted), tf.constant(own)
        self._spaces = tf.cast(tf.strings.regex_full_match(pieces, "▁.+"), tf.int64)

    def tokenize(self, texts):
        """Return the ids of the tokenizer, ragged `[batch, None]`."""
        ids = self._new().tokenize(texts)
        return ids.with_values(tf.gather(self._shifted, ids.values))

    def detokenize(self, ids):
        """Return texts `[batch]`."""
        return self._new().detokenize(ids.with_values(tf.gather(self._own, ids.values)))

    def __call__(self, texts, ids):
        """Return starts and ends, ragged `[batch, None]`, of texts and their ids."""
        _, starts, ends = self._new().tokenize_with_offsets(texts)
        starts, ends = (tf.cast(x.values, tf.int64) for x in (starts, ends))
        # The space before a word is not part of the word; the first word has none.
        spaces = tf.gather(self._spaces, ids.values) * tf.cast(starts > 0, tf.int64)
        return ragged_rows(ids.row_splits, tf.minimum(starts + spaces, ends), ends)

    def _new(self):
        """Return a tokenizer; its name keeps two models in a SavedModel apart."""
        return self._library.SentencepieceTokenizer(
            self._model, tf.int32, name=f"model_{self._digest}"
        )
