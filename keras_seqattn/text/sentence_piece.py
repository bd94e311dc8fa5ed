"""The text processor `SentencePiece`: its tokens are subwords."""

import hashlib

import tensorflow as tf

from keras_seqattn.text.checks import check_vocabulary_size
from keras_seqattn.text.normalization import WHITE_SPACE
from keras_seqattn.text.optional_packages import tensorflow_text
from keras_seqattn.text.processor import TextProcessor
from keras_seqattn.text.sentence_piece_checks import check_sampling, read_vocabulary
from keras_seqattn.text.sentence_piece_learner import SPACE, learn_model


class SentencePiece(TextProcessor):
    """Text processor whose tokens are subwords of a SentencePiece model.

    The model is a unigram or a BPE model. `decode(encode(text))` equals
    `normalize(text)` if all characters are known. A space is part of the piece after
    it and is written ▁: so text that is already split into tokens keeps its spaces. ▁
    and NUL in a text count as white space.

    With `sample=True`, every call draws a new random segmentation (subword
    regularisation; BPE-dropout if the model is BPE). There is no seed: tensorflow-text
    has one generator per thread, seeded by the operating system, and
    `tf.random.set_seed` does not change it. So to repeat a run, store the ids that it
    drew. Everything else is deterministic.

    Args:
        model: bytes of a SentencePiece model in which padding, start, end and unknown
            have ids 0 to 3. See `learn`.
        normalization: None, "nfc", "nfkc" or "nfkc_casefold" (ß becomes ss). It comes
            before the normalization of the model; models of `learn` have none.
        lowercase: whether to turn capital letters into small ones (ß stays).
        nbest_size: for unigram models: the number of most probable segmentations to
            draw from; -1: all.
        alpha: for unigram models: the exponent in the equation below; with 0 all
            segmentations are equally probable. For BPE models: the probability that a
            merge is left out.

    Equations:
        P(x_i|X) = P(x_i)^alpha / sum_j P(x_j)^alpha  (Kudo 2018, section 3.3)

    Example:
        >>> text = SentencePiece.learn(["the cat", "the hat", "a hat"], 12)
        >>> pieces = text.pieces(text.encode("that"))
        >>> b"".join(pieces.numpy()).decode()
        '▁that'
        >>> text.decode(text.encode([" that  hat "])).numpy()
        array([b'that hat'], dtype=object)

    References:
        Kudo & Richardson 2018, arXiv:1808.06226.
        Kudo 2018, arXiv:1804.10959: unigram model, subword regularisation.
        Sennrich et al. 2016, arXiv:1508.07909: BPE.
        Provilkov et al. 2020, arXiv:1910.13267: BPE-dropout.
    """

    vocabulary_file = "sentencepiece.model"
    white_space = WHITE_SPACE + SPACE + "\0"  # characters that no piece can hold

    def __init__(
        self, model, normalization=None, lowercase=False, nbest_size=-1, alpha=0.1
    ):
        check_sampling(nbest_size, alpha)
        vocabulary = read_vocabulary(tensorflow_text("SentencePiece"), model)
        super().__init__(vocabulary, normalization, lowercase)
        self.nbest_size = nbest_size
        self.alpha = float(alpha)
        self._model = model
        self._digest = hashlib.sha256(model).hexdigest()
        self._spaced = tf.constant([piece.startswith(SPACE) for piece in vocabulary])

    @classmethod
    def learn(
        cls,
        texts,
        vocabulary_size,
        *,
        kind="unigram",
        character_coverage=1.0,
        user_defined_symbols=(),
        normalization=None,
        lowercase=False,
        **sampling,
    ):
        """Learn a model of exactly this size; the same texts give the same model.

        For one vocabulary of two languages, chain their texts: `itertools.chain(source,
        target)`.

        Args:
            texts: an iterable of str, or a `tf.data.Dataset` of strings. Texts of more
                than 65 536 bytes are ignored.
            vocabulary_size: number of pieces, the 4 special tokens included.
            kind: "unigram" or "bpe".
            character_coverage: share of the text whose characters are known, from 0.98
                to 1; below 1 for scripts with many characters, e.g. 0.9995 for Chinese.
            user_defined_symbols: list of str that are never split, e.g. "<2de>".
            normalization: see the class.
            lowercase: see the class.
            **sampling: options of the class: nbest_size, alpha.
        """
        check_vocabulary_size(cls.__name__, vocabulary_size, 5)
        model = learn_model(
            cls._texts(texts, normalization, lowercase),
            vocabulary_size,
            kind,
            character_coverage,
            user_defined_symbols,
        )
        return cls(model, normalization, lowercase, **sampling)

    def get_config(self):
        sampling = {"nbest_size": self.nbest_size, "alpha": self.alpha}
        return {**super().get_config(), **sampling}

    def _to_bytes(self):
        return self._model

    @classmethod
    def _from_bytes(cls, data, config):
        return cls(data, **config)

    def _tokenizer(self, **sampling):
        """Return a new tokenizer of the model; it is made again at every use.

        The model belongs to the operation that reads it, and tf.random.set_seed and
        keras.utils.clear_session forget eager operations (tensorflow/text#570). An
        operation that still exists does not read the model again. In a loaded
        SavedModel, operations with the same name share a model, so the name contains
        the digest of the model.

        FastSentencepieceTokenizer is not used: it applies the unigram algorithm to
        every model, BPE models included.
        """
        library = tensorflow_text("SentencePiece")
        return library.SentencepieceTokenizer(
            self._model, tf.int32, name=f"model_{self._digest}", **sampling
        )

    def _tokenize(self, texts):
        ids, starts, ends = self._tokenizer().tokenize_with_offsets(texts)
        starts, ends = tf.cast(starts, tf.int64), tf.cast(ends, tf.int64)
        # The space before a word is not part of the word; the first word has none.
        space = tf.gather(self._spaced, ids.values) & (starts.values > 0)
        begin = starts.values + tf.cast(space, tf.int64)
        return ids, starts.with_values(begin), ends

    def _sample(self, texts):
        sampler = self._tokenizer(nbest_size=self.nbest_size, alpha=self.alpha)
        return sampler.tokenize(texts)

    def _join(self, ids):
        return self._tokenizer().detokenize(ids)
