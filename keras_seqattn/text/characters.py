"""The text processor `Characters`: its tokens are Unicode code points."""

import collections

import tensorflow as tf

from keras_seqattn.text.checks import check_characters, check_vocabulary_size
from keras_seqattn.text.listed_processor import ListedProcessor, id_table, most_frequent
from keras_seqattn.text.normalization import code_points, ragged_rows


class Characters(ListedProcessor):
    """Text processor whose tokens are Unicode code points, white space included.

    `decode(encode(text))` equals `normalize(text)` if all characters are known. Only a
    `normalization` needs tensorflow-text.

    Args:
        vocabulary: list of str, the piece of each id: `<pad>`, `<s>`, `</s>`, `<unk>`,
            then single characters. See `learn`.
        normalization: None, "nfc", "nfkc" or "nfkc_casefold" (ß becomes ss).
        lowercase: whether to turn capital letters into small ones (ß stays).

    Example:
        >>> letters = Characters.learn(["naïve", "Ève"], lowercase=True)
        >>> letters.vocabulary[4:]
        ('e', 'v', 'a', 'n', 'è', 'ï')
        >>> letters.encode_with_offsets("Naïv").ends.numpy().tolist()
        [1, 2, 4, 5]
    """

    white_space = ""

    def __init__(self, vocabulary, normalization=None, lowercase=False):
        super().__init__(vocabulary, normalization, lowercase)
        known = self._vocabulary[len(self.tokens) :]
        check_characters(type(self).__name__, known)
        codes = [ord(character) for character in known]
        self._ids = id_table([*codes, -1], self.tokens)  # a table must not be empty

    @classmethod
    def learn(cls, texts, vocabulary_size=None, *, minimum_count=1, **options):
        """Learn a vocabulary of the most frequent characters.

        Args:
            texts: an iterable of str, or a `tf.data.Dataset` of strings.
            vocabulary_size: the largest size of the vocabulary, the 4 special tokens
                included; None: no limit.
            minimum_count: characters that occur less often are left out.
            **options: options of the class: normalization, lowercase.
        """
        if vocabulary_size is not None:
            check_vocabulary_size(cls.__name__, vocabulary_size, 5)
        counts = collections.Counter()
        for text in cls._texts(texts, **options):
            counts.update(text)
        vocabulary = most_frequent(cls.__name__, counts, vocabulary_size, minimum_count)
        return cls(vocabulary, **options)

    def _tokenize(self, texts):
        codes, starts, ends, splits = code_points(texts)
        return ragged_rows(splits, self._ids.lookup(codes), starts, ends)

    def _join(self, ids):
        return tf.strings.reduce_join(tf.gather(self._spellings, ids), axis=-1)
