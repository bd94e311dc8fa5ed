"""Words between white space."""

import collections

import tensorflow as tf

from keras_seqattn.text.checks import check_vocabulary_size, check_words
from keras_seqattn.text.listed_processor import ListedProcessor, most_frequent, table
from keras_seqattn.text.ragged_operations import ragged_rows, running_sum


class Words(ListedProcessor):
    """Words between white space; what is not in the vocabulary is unknown.

    For text that is split into words already, and for symbols that are: phonemes,
    tags. `decode` puts one space between words. Needs no tensorflow-text unless there
    is a `normalization`.

    Args:
        vocabulary: list of str, the piece of each id, `<pad>`, `<s>`, `</s>` and
            `<unk>` first. See `learn`.
        normalization: None, "nfc", "nfkc" or "nfkc_casefold" (ß becomes ss).
        lowercase: whether to write capital letters small (ß stays).

    Example:
        >>> words = Words.learn(["HH AH0 L OW1", "W ER1 L D"])
        >>> words.decode(words.encode(["L OW1", "L IY1"])).numpy().tolist()
        [b'L OW1', b'L \\xe2\\x81\\x87']
    """

    def __init__(self, vocabulary, normalization=None, lowercase=False):
        super().__init__(vocabulary, normalization, lowercase)
        known = self._vocabulary[len(self.tokens) :]  # "</s>" in a text is no end
        check_words(type(self).__name__, known)
        self._ids = table([*known, ""], self.tokens)  # a table may not be empty

    @classmethod
    def learn(cls, texts, vocabulary_size=None, *, minimum_count=1, **options):
        """The most frequent words.

        Args:
            texts: an iterable of str, or a `tf.data.Dataset` of strings.
            vocabulary_size: how many at most, the 4 special ones included; None: all.
            minimum_count: words that are rarer are unknown.
            **options: of the class: normalization, lowercase.
        """
        if vocabulary_size is not None:
            check_vocabulary_size(cls.__name__, vocabulary_size, 5)
        counts = collections.Counter()
        for text in cls._texts(texts, **options):
            counts.update(text.split(" "))
        return cls(most_frequent(counts, vocabulary_size, minimum_count), **options)

    def _tokenize(self, texts):
        words, starts, ends, splits = split(texts)
        return ragged_rows(splits, self._ids.lookup(words), starts, ends)

    def _join(self, ids):
        return tf.strings.reduce_join(self._spelled(ids), axis=-1, separator=" ")


def split(texts):
    """Words of normalised texts `[batch]`, flat; starts, ends, splits."""
    words = tf.strings.split(texts)
    words, splits = words.values, words.row_splits
    sizes = tf.cast(tf.strings.length(words), tf.int64)
    ends = running_sum(sizes + 1, splits) - 1  # 1: the space behind
    return words, ends - sizes, ends, splits
