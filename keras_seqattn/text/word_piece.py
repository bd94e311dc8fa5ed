"""The text processor `WordPiece`: its tokens are pieces of words."""

import collections

import tensorflow as tf

from keras_seqattn.text.checks import SPECIAL, check_vocabulary_size
from keras_seqattn.text.listed_processor import ListedProcessor
from keras_seqattn.text.normalization import WHITE_SPACE, ragged_rows, row_of
from keras_seqattn.text.optional_packages import tensorflow_text, word_piece_learner
from keras_seqattn.text.processor import UNKNOWN
from keras_seqattn.text.words import split_words

START = "▁"  # marks the start of a word, as in GNMT


class WordPiece(ListedProcessor):
    """Text processor that splits words into pieces, as GNMT does.

    From left to right it takes the longest piece that fits. A piece at the start of a
    word begins with ▁. Only white space separates words: punctuation belongs to the
    word that it touches. So `decode(encode(text))` equals `normalize(text)` if all
    characters are known. A word with an unknown character is one unknown token. Use
    `SentencePiece` for text without white space between words (Chinese, Japanese,
    Thai). ▁ and NUL in a text count as white space.

    Args:
        vocabulary: list of str, the piece of each id, `<pad>`, `<s>`, `</s>` and
            `<unk>` first. See `learn`.
        normalization: None, "nfc", "nfkc" or "nfkc_casefold" (ß becomes ss).
        lowercase: whether to turn capital letters into small ones (ß stays).

    Example:
        >>> pieces = ["▁un", "▁do", "do", "ing", "."]
        >>> text = WordPiece(["<pad>", "<s>", "</s>", "<unk>", *pieces])
        >>> text.encode("undoing.").numpy().tolist()
        [4, 6, 7, 8]
        >>> text.decode([5, 7, 4, 6, 7, 8]).numpy()
        b'doing undoing.'

    References:
        Wu et al. 2016, arXiv:1609.08144, section 4.1.
        Song et al. 2021, arXiv:2012.15524: the algorithm, linear in the word's length.
    """

    white_space = WHITE_SPACE + START + "\0"  # characters that no piece can hold
    unknown = START + UNKNOWN  # an unknown token is a whole word

    def __init__(self, vocabulary, normalization=None, lowercase=False):
        super().__init__(vocabulary, normalization, lowercase)
        # With a space in front, the special tokens never match a word.
        special = [f" {piece}" for piece in SPECIAL]
        self._tokenizer = tensorflow_text("WordPiece").FastWordpieceTokenizer(
            [*special, *self._vocabulary[len(special) :]],
            suffix_indicator="",
            max_bytes_per_word=2**30,
            token_out_type=tf.int32,
            unknown_token=special[self.tokens.unknown],
            no_pretokenization=True,
        )

    @classmethod
    def learn(cls, texts, vocabulary_size, **options):
        """Learn a vocabulary with all characters and the most useful pieces.

        The learner is pure Python: 30 000 sentences take a minute.

        Args:
            texts: an iterable of str, or a `tf.data.Dataset` of strings.
            vocabulary_size: the largest size of the vocabulary, the 4 special tokens
                included; the result is usually a few per cent smaller.
            **options: options of the class: normalization, lowercase.
        """
        counts = collections.Counter()
        for text in cls._texts(texts, **options):
            counts.update(START + word for word in text.split(" "))
        characters = {character for word in counts for character in word}
        least = len(SPECIAL) + len(characters)
        check_vocabulary_size(cls.__name__, vocabulary_size, least)
        pieces = word_piece_learner(cls.__name__).learn(
            counts,
            vocabulary_size,
            list(SPECIAL),
            lower_thresh=1,
            max_unique_chars=len(characters),
            include_joiner_token=False,
            joiner="",
        )
        return cls(pieces[:vocabulary_size], **options)

    def _tokenize(self, texts):
        words, word_starts, _, splits = split_words(texts)
        ids, *bounds = self._tokenizer.tokenize_with_offsets(START + words)
        word_start = tf.gather(word_starts, row_of(ids.row_splits))
        mark = len(START.encode())  # it is not in the text
        bounds = (
            word_start + tf.maximum(tf.cast(offsets.values, tf.int64) - mark, 0)
            for offsets in bounds
        )
        return ragged_rows(tf.gather(ids.row_splits, splits), ids.values, *bounds)

    def _join(self, ids):
        pieces = tf.gather(self._spellings, ids)
        text = tf.strings.reduce_join(pieces, axis=-1)
        text = tf.strings.regex_replace(text, START, " ")
        return tf.strings.regex_replace(text, "^ ", "")
