"""The text processor `Words`: its tokens are separated by white space."""

import collections

import tensorflow as tf

from keras_seqattn.text.checks import check_vocabulary_size, check_words
from keras_seqattn.text.listed_processor import ListedProcessor, id_table, most_frequent
from keras_seqattn.text.normalization import ragged_rows, running_sum


class Words(ListedProcessor):
    """Text processor whose tokens are words, separated by white space.

    It is for text that is already split into words, and for symbols such as phonemes
    or tags. Words that are not in the vocabulary are unknown. `decode` puts one space
    between words. Only a `normalization` needs tensorflow-text.

    Args:
        vocabulary: list of str, the piece of each id, `<pad>`, `<s>`, `</s>` and
            `<unk>` first. See `learn`.
        normalization: None, "nfc", "nfkc" or "nfkc_casefold" (ß becomes ss).
        lowercase: whether to turn capital letters into small ones (ß stays).

    Example:
        >>> words = Words.learn(["HH AH0 L OW1", "W ER1 L D"])
        >>> words.decode(words.encode(["L OW1", "L IY1"])).numpy().tolist()
        [b'L OW1', b'L \\xe2\\x81\\x87']
    """

    def __init__(self, vocabulary, normalization=None, lowercase=False):
        super().__init__(vocabulary, normalization, lowercase)
        # Without the special tokens: the word "</s>" in a text is not the end token.
        known = self._vocabulary[len(self.tokens) :]
        check_words(type(self).__name__, known)
        self._ids = id_table([*known, ""], self.tokens)  # a table must not be empty

    @classmethod
    def learn(cls, texts, vocabulary_size=None, *, minimum_count=1, **options):
        """Learn a vocabulary of the most frequent words.

        Args:
            texts: an iterable of str, or a `tf.data.Dataset` of strings.
            vocabulary_size: the largest size of the vocabulary, the 4 special tokens
                included; None: no limit.
            minimum_count: words that occur less often are left out.
            **options: options of the class: normalization, lowercase.
        """
        if vocabulary_size is not None:
            check_vocabulary_size(cls.__name__, vocabulary_size, 5)
        counts = collections.Counter()
        for text in cls._texts(texts, **options):
            counts.update(text.split(" "))
        vocabulary = most_frequent(cls.__name__, counts, vocabulary_size, minimum_count)
        return cls(vocabulary, **options)

    def _tokenize(self, texts):
        words, starts, ends, splits = split_words(texts)
        return ragged_rows(splits, self._ids.lookup(words), starts, ends)

    def _join(self, ids):
        words = tf.gather(self._spellings, ids)
        return tf.strings.reduce_join(words, axis=-1, separator=" ")


def split_words(texts):
    """Split normalised texts `[batch]` into words.

    Returns:
        `(words, starts, ends, splits)`: the words of all texts in one tensor, their
        byte offsets, and the row splits of the texts.
    """
    words = tf.strings.split(texts)
    words, splits = words.values, words.row_splits
    sizes = tf.cast(tf.strings.length(words), tf.int64)
    ends = running_sum(sizes + 1, splits) - 1  # 1: the space after the word
    return words, ends - sizes, ends, splits
