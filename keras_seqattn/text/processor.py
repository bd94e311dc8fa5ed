"""The base of all text processors."""

import inspect
from typing import Any, NamedTuple

import tensorflow as tf

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error
from keras_seqattn.text import learning_texts, processor_folder
from keras_seqattn.text.checks import (
    check_ids,
    check_normalization,
    check_sequences,
    check_special,
    check_vocabulary,
    id_tensor,
    string_batch,
)
from keras_seqattn.text.normalization import WHITE_SPACE, Normalizer
from keras_seqattn.types import SpecialTokens

UNKNOWN = "⁇"  # `decode` writes this for an unknown token


class Tokens(NamedTuple):
    """The tokens of texts, ragged `[batch, None]`; for one text `[None]`."""

    ids: Any  # int32
    pieces: Any  # strings
    starts: Any  # int64, byte offset in the original text
    ends: Any  # int64, the first byte after the token


class TextProcessor(tf.Module):
    """Base of the text processors, which turn strings into ids and ids into strings.

    Everything except learning consists of TensorFlow operations: it runs in `tf.data`,
    in a `tf.function`, and in a SavedModel of a `tf.Module` that holds the processor.
    `tokens`, a `SpecialTokens`, has the ids of padding, start, end and unknown: 0 to 3
    in all processors of the library. A class of your own may have other ones: it sets
    `self.tokens` before `super().__init__`.

    A subclass defines these methods; `Words` is a short example:

    - `_tokenize(texts)` returns ids, starts and ends, ragged `[batch, None]`. Starts
      and ends are bytes of the normalised texts `[batch]`.
    - `_join(ids)` turns ragged ids into strings `[batch]`.
    - `learn` and `_from_bytes` are class methods, `_to_bytes` is a method.

    Args:
        vocabulary: list of str, the piece of each id.
        normalization: None, "nfc", "nfkc" or "nfkc_casefold" (ß becomes ss).
        lowercase: whether to turn capital letters into small ones (ß stays).

    Example:
        >>> words = Words.learn(["a rose is a rose"])
        >>> words.encode("a rose is red").numpy().tolist()
        [4, 5, 6, 3]
        >>> words.decode([[4, 5, 2, 0], [5, 6, 4, 2]]).numpy().tolist()
        [b'a rose', b'rose is a']
    """

    tokens = SpecialTokens()
    first_pieces = ()  # that every vocabulary of the class begins with
    vocabulary_file = "vocabulary.txt"
    white_space = WHITE_SPACE  # runs of it become one space; "": white space stays

    def __init__(self, vocabulary, normalization=None, lowercase=False):
        super().__init__()
        owner = type(self).__name__
        check_normalization(owner, normalization)
        check_vocabulary(owner, vocabulary, self.first_pieces)
        check_special(owner, self.tokens, len(vocabulary))
        self.normalization = normalization
        self.lowercase = bool(lowercase)
        self._vocabulary = tuple(vocabulary)
        self._pieces = tf.constant(self._vocabulary)
        self._normalizer = self._make_normalizer(normalization, lowercase)

    @property
    def vocabulary(self):
        """The piece of each id, a tuple of str."""
        return tuple(self._vocabulary)

    @property
    def vocabulary_size(self):
        return len(self._vocabulary)

    @classmethod
    def learn_from_files(cls, paths, *args, **kwargs):
        """Learn from the lines of files, plain or gzip; see `learn` for the rest."""
        return cls.learn(learning_texts.each_line(cls.__name__, paths), *args, **kwargs)

    def normalize(self, texts):
        """Normalise texts: `decode(encode(text))` returns this if no token is unknown.

        Args:
            texts: strings `[batch]`, or one string.

        Returns:
            Strings of the same shape.
        """
        texts, is_scalar = string_batch(type(self).__name__, texts)
        texts = self._normalizer(texts).text()
        return texts[0] if is_scalar else texts

    def encode(self, texts, sample=False):
        """Encode texts as ids, without start and end tokens.

        Args:
            texts: strings `[batch]`, or one string. Invalid UTF-8 is read as U+FFFD.
            sample: whether to draw a random segmentation (SentencePiece only).

        Returns:
            int32, ragged `[batch, None]`; for one string `[None]`.
        """
        texts, is_scalar = string_batch(type(self).__name__, texts)
        texts = self._normalizer(texts).text()
        ids = self._sample(texts) if sample else self._encode(texts)
        return ids[0] if is_scalar else ids

    def encode_with_offsets(self, texts):
        """Encode texts, and map every token to byte offsets in the original text.

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
        """Decode ids up to the first end token; padding and start tokens are left out.

        Args:
            ids: integers `[..., length]`, dense or ragged.

        Returns:
            Strings `[...]`; an unknown token becomes ⁇.
        """
        ids = id_tensor(type(self).__name__, ids)
        check_sequences(type(self).__name__, ids)
        check_ids(type(self).__name__, ids, self.vocabulary_size)
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
            Strings of the same shape; an unknown token becomes `<unk>`.
        """
        ids = id_tensor(type(self).__name__, ids)
        check_ids(type(self).__name__, ids, self.vocabulary_size)
        return tf.gather(self._pieces, ids)

    def get_config(self):
        """The arguments of `__init__` by name, without the vocabulary."""
        return {"normalization": self.normalization, "lowercase": self.lowercase}

    def save(self, folder):
        """Write `text.json` and the vocabulary into a folder; create it if needed."""
        processor_folder.save(self, folder)

    @classmethod
    def load(cls, folder):
        """Load a processor that was saved; it has the class that was saved."""
        return processor_folder.load(cls, folder)

    @classmethod
    def _make_normalizer(cls, normalization, lowercase):
        return Normalizer(cls.__name__, normalization, lowercase, cls.white_space)

    @classmethod
    def _texts(cls, texts, normalization=None, lowercase=False, **others):
        """Yield the normalised texts to learn from."""
        arguments = inspect.signature(cls.learn).parameters.values()
        known = [p.name for p in arguments if p.kind is not p.VAR_KEYWORD]
        for name in others:
            known += ["normalization", "lowercase"]
            check_choice(f"{cls.__name__}.learn", "argument", name, set(known))
        check_normalization(cls.__name__, normalization)
        normalizer = cls._make_normalizer(normalization, lowercase)
        return learning_texts.normalized(cls.__name__, texts, normalizer)

    def _encode(self, texts):
        return self._tokenize(texts)[0]

    def _words_of(self, ids):
        """The ids before the first end token without special ones, ragged."""
        ended = tf.cumsum(tf.cast(ids == self.tokens.end, tf.int32), axis=1) > 0
        special = (ids == self.tokens.pad) | (ids == self.tokens.start)
        return tf.ragged.boolean_mask(ids, ~(ended | special))

    def _sample(self, texts):
        raise four_part_error(
            f"{type(self).__name__} cannot draw a random segmentation",
            "sample=False",
            "sample=True",
            "Use SentencePiece, whose segmentations have probabilities",
        )
