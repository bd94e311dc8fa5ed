"""What all text processors share."""

from typing import Any, NamedTuple

import tensorflow as tf

from keras_seqattn.errors import four_part_error
from keras_seqattn.text import learning_texts, processor_folder
from keras_seqattn.text.checks import (
    check_normalization,
    check_sequences,
    check_vocabulary,
    id_tensor,
    string_batch,
)
from keras_seqattn.text.normalization import WHITE_SPACE, Normalizer
from keras_seqattn.types import SpecialTokens

UNKNOWN = "⁇"  # how decode writes an unknown token


class Tokens(NamedTuple):
    """The tokens of texts, ragged `[batch, None]`; for one text `[None]`."""

    ids: Any  # int32
    pieces: Any  # strings
    starts: Any  # int64, bytes of the untouched text
    ends: Any  # int64, the first byte after the token


class TextProcessor(tf.Module):
    """Base of the text processors: strings to ids, ids to strings.

    All but learning is made of TensorFlow operations: it runs in `tf.data`, in a
    `tf.function`, and in a SavedModel of a `tf.Module` that holds the processor.
    Ids 0 to 3 are padding, start, end and unknown in every vocabulary.

    A processor of your own defines `_tokenize(texts)`, which returns ids, starts and
    ends, ragged `[batch, None]`, in bytes of normalised texts `[batch]`;
    `_join(ids)`, from ragged ids to strings `[batch]`; the class methods `learn` and
    `_from_bytes`, and `_to_bytes`. `Words` is a short example.

    Args:
        vocabulary: list of str, the piece of each id.
        normalization: None, "nfc", "nfkc" or "nfkc_casefold" (ß becomes ss).
        lowercase: whether to write capital letters small (ß stays).

    Example:
        >>> words = Words.learn(["a rose is a rose"])
        >>> words.encode("a rose is red").numpy().tolist()
        [4, 5, 6, 3]
        >>> words.decode([[4, 5, 2, 0], [5, 6, 4, 2]]).numpy().tolist()
        [b'a rose', b'rose is a']
    """

    tokens = SpecialTokens()
    vocabulary_file = "vocabulary.txt"
    white_space = WHITE_SPACE  # runs of it become one space; "": kept as it is

    def __init__(self, vocabulary, normalization=None, lowercase=False):
        super().__init__()
        owner = type(self).__name__
        check_normalization(owner, normalization)
        check_vocabulary(owner, vocabulary)
        self.normalization = normalization
        self.lowercase = bool(lowercase)
        self._vocabulary = tuple(vocabulary)
        self._pieces = tf.constant(self._vocabulary)
        self._normalizer = self._make_normalizer(normalization, lowercase)

    @property
    def vocabulary(self):
        """Tuple of str, the piece of each id."""
        return tuple(self._vocabulary)

    @property
    def vocabulary_size(self):
        return len(self._vocabulary)

    @classmethod
    def learn_from_files(cls, paths, *args, **kwargs):
        """`learn` from the lines of files, plain or gzip; the rest as there."""
        return cls.learn(learning_texts.each_line(cls.__name__, paths), *args, **kwargs)

    def normalize(self, texts):
        """The texts as they are read: what `decode` gives back where none is unknown.

        Args:
            texts: strings `[batch]`, or one string.

        Returns:
            Strings of the same shape.
        """
        texts, is_scalar = string_batch(type(self).__name__, texts)
        texts = self._normalizer(texts).text()
        return texts[0] if is_scalar else texts

    def encode(self, texts, sample=False):
        """Ids, without start and end.

        Args:
            texts: strings `[batch]`, or one string. Invalid UTF-8 is read as U+FFFD.
            sample: whether to draw the segmentation at random (SentencePiece only).

        Returns:
            int32, ragged `[batch, None]`; for one string `[None]`.
        """
        texts, is_scalar = string_batch(type(self).__name__, texts)
        texts = self._normalizer(texts).text()
        ids = self._sample(texts) if sample else self._tokenize(texts)[0]
        return ids[0] if is_scalar else ids

    def encode_with_offsets(self, texts):
        """Tokens, and the bytes of the untouched text that they stand for.

        Args:
            texts: strings `[batch]`, or one string.

        Returns:
            `Tokens(ids, pieces, starts, ends)`, each ragged `[batch, None]`; for one
            string `[None]`.
        """
        texts, is_scalar = string_batch(type(self).__name__, texts)
        points = self._normalizer(texts)
        ids, starts, ends = self._tokenize(points.text())
        begin, end = points.original_bytes(starts.values, ends.values, ids.row_splits)
        bounds = starts.with_values(begin), ends.with_values(end)
        tokens = Tokens(ids, self.pieces(ids), *bounds)
        return Tokens(*(x[0] for x in tokens)) if is_scalar else tokens

    def decode(self, ids):
        """Texts: what stands before the first end, without padding and start.

        Args:
            ids: integers `[..., length]`, dense or ragged.

        Returns:
            Strings `[...]`; an unknown token is written ⁇.
        """
        ids = id_tensor(type(self).__name__, ids)
        check_sequences(type(self).__name__, ids)
        if isinstance(ids, tf.RaggedTensor):
            if ids.values.shape.rank > 1:
                return ids.with_values(self.decode(ids.values))
            return self._join(self._words_of(ids))
        shape = tf.shape(ids)
        rows = tf.reshape(ids, [tf.reduce_prod(shape[:-1]), shape[-1]])
        texts = tf.reshape(self._join(self._words_of(rows)), shape[:-1])
        return tf.ensure_shape(texts, ids.shape[:-1])

    def pieces(self, ids):
        """The piece of each id.

        Args:
            ids: integers of any shape, dense or ragged.

        Returns:
            Strings of the same shape; an unknown token is `<unk>`.
        """
        return tf.gather(self._pieces, id_tensor(type(self).__name__, ids))

    def get_config(self):
        """The options, without the vocabulary: those of `__init__` by name."""
        return {"normalization": self.normalization, "lowercase": self.lowercase}

    def save(self, folder):
        """Writes `text.json` and the vocabulary into a folder, made where missing."""
        processor_folder.save(self, folder)

    @classmethod
    def load(cls, folder):
        """The processor that was saved, of the class that it was."""
        return processor_folder.load(cls, folder)

    @classmethod
    def _make_normalizer(cls, normalization, lowercase):
        return Normalizer(cls.__name__, normalization, lowercase, cls.white_space)

    @classmethod
    def _texts(cls, texts, normalization=None, lowercase=False):
        """Texts to learn from, as they will be read."""
        check_normalization(cls.__name__, normalization)
        normalizer = cls._make_normalizer(normalization, lowercase)
        return learning_texts.normalized(cls.__name__, texts, normalizer)

    def _words_of(self, ids):
        """What is not special, up to the first end, ragged `[batch, None]`."""
        ended = tf.cumsum(tf.cast(ids == self.tokens.end, tf.int32), axis=1) > 0
        special = (ids == self.tokens.pad) | (ids == self.tokens.start)
        return tf.ragged.boolean_mask(ids, ~(ended | special))

    def _sample(self, texts):
        raise four_part_error(
            f"{type(self).__name__} cannot sample",
            "sample=False",
            "sample=True",
            "Use a SentencePiece: its segmentations have probabilities",
        )
