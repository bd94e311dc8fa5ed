"""Scores of hypotheses as strings: BLEU, chrF, exact match and error rates."""

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import abbreviated, four_part_error, missing_package
from keras_seqattn.metrics.levenshtein import edit_distance
from keras_seqattn.safe_reading import in_one_line


class SignedScore(float):
    """A score with a `signature` that says how it was computed."""

    def __new__(cls, score, signature):
        self = super().__new__(cls, score)
        self.signature = signature
        return self

    def __getnewargs__(self):  # for copies and pickles
        return float(self), self.signature


def bleu(
    hypotheses, references, tokenize="13a", lowercase=False, effective_order=False
):
    """BLEU of a whole test set, in percent, by sacreBLEU.

    Args:
        hypotheses: list of strings.
        references: as many strings, or lists of several strings each.
        tokenize: sacreBLEU's tokenizer: "13a" for detokenised text, "none" for text
            that is already tokenised, "zh", "ja-mecab", "intl", "char", ...
        lowercase: whether case is ignored.
        effective_order: whether to leave n-grams that are longer than the hypotheses
            out of the mean. Use it for single sentences: otherwise a correct sentence
            of three words has BLEU 0.

    Returns:
        A float with the attribute `signature`, which papers should report with it.

    Equations:
        BLEU = 100 min(1, exp(1 - r / c)) exp(sum{log p_n : n = 1 .. 4} / 4)

    Example:
        >>> score = bleu(["the cat sat down"], ["the cat sat down"], tokenize="none")
        >>> round(score), score.signature.split("|")[1]
        (100, 'case:mixed')

    References:
        Papineni et al. 2002, ACL. Post 2018, arXiv:1804.08771.
    """
    metric = sacrebleu_metrics().BLEU
    check_choice("bleu", "tokenize", tokenize, metric.TOKENIZERS)
    force = tokenize == "none"  # no warning that the text looks tokenised
    try:
        metric = metric(
            tokenize=tokenize,
            lowercase=lowercase,
            force=force,
            effective_order=effective_order,
        )
    except (ImportError, RuntimeError) as error:  # mecab raises a RuntimeError
        extras = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}
        raise missing_package(
            "bleu",
            f"the package of tokenize={tokenize!r}",
            in_one_line(error),
            requirement=extras.get(tokenize, "sentencepiece"),
            otherwise="another tokenizer needs none",
        ) from error
    return _score("bleu", metric, hypotheses, references)


def chrf(hypotheses, references, word_order=0, lowercase=False):
    """chrF of a whole test set, in percent, by sacreBLEU: n-grams of characters.

    Args:
        hypotheses: list of strings.
        references: as many strings, or lists of several strings each.
        word_order: length of the longest n-grams of words that count, too; 2 is chrF++.
        lowercase: whether case is ignored.

    Returns:
        A float with the attribute `signature`, which papers should report with it.

    Equations:
        chrF = 100 (1 + 2^2) P R / (2^2 P + R), means over n-grams of 1 .. 6 characters

    Example:
        >>> print(f"{chrf(['cat'], ['cats']):.1f}")
        68.9

    References:
        Popovic 2015, WMT. Post 2018, arXiv:1804.08771.
    """
    metric = sacrebleu_metrics().CHRF(word_order=word_order, lowercase=lowercase)
    return _score("chrf", metric, hypotheses, references)


def exact_match(hypotheses, references):
    """Percentage of the hypotheses that equal their reference, or one of several.

    Args:
        hypotheses: list of strings.
        references: as many strings, or lists of several strings each.

    Equations:
        match = 100 sum{[h_i in R_i] : i} / N

    Example:
        >>> exact_match(["2024-05-01", "2024-05-02"], ["2024-05-01", "2024-06-02"])
        50.0
    """
    references = _references("exact_match", hypotheses, references)
    matches = [h in texts for h, texts in zip(hypotheses, references, strict=True)]
    return 100.0 * sum(matches) / len(matches)


def word_error_rate(hypotheses, references):
    """Percentage of wrong hypotheses, each of which is the pronunciation of one word.

    Papers on grapheme-to-phoneme conversion call this WER: a pronunciation is right if
    it equals one of its references; the number of blanks does not matter. In speech
    recognition, WER counts the wrong words of a sentence: use `token_error_rate`.

    Args:
        hypotheses: list of strings, e.g. "K AE T".
        references: as many strings, or lists of several strings each.

    Equations:
        WER = 100 sum{[h_i not in R_i] : i} / N

    Example:
        >>> word_error_rate(["T AH", "K AE T"], [["T UW", "T AH"], "K AA T"])
        50.0
    """
    references = _references("word_error_rate", hypotheses, references)
    references = [[" ".join(r.split()) for r in texts] for texts in references]
    hypotheses = [" ".join(h.split()) for h in hypotheses]
    return 100.0 - exact_match(hypotheses, references)


def token_error_rate(hypotheses, references, tokenize=str.split):
    """Edits between hypotheses and references, in percent of the references' tokens.

    For phonemes this is PER, for words it is the WER of speech recognition. Of several
    references, the nearest one counts; of equally near ones, the shortest.

    Args:
        hypotheses: list of strings, tokens between spaces.
        references: as many strings, or lists of several strings each.
        tokenize: a function from a string to its tokens; `list` for characters (CER).

    Equations:
        r_i = argmin{d(h_i, r) : r in R_i}
        rate = 100 sum{d(h_i, r_i) : i} / sum{|r_i| : i}

    Example:
        >>> token_error_rate(["T AH", "K AE T"], [["T UW", "T AH"], "K AA T"])
        20.0
    """
    references = _references("token_error_rate", hypotheses, references)
    edits = tokens = 0
    for hypothesis, texts in zip(hypotheses, references, strict=True):
        hypothesis, texts = tokenize(hypothesis), [tokenize(r) for r in texts]
        nearest = min((edit_distance(hypothesis, r), len(r)) for r in texts)
        edits, tokens = edits + nearest[0], tokens + nearest[1]
    return 100.0 * edits / max(tokens, 1)


def _score(owner, metric, hypotheses, references):
    references = _references(owner, hypotheses, references)
    # sacreBLEU expects a list of all first references, a list of all second ones, ...
    most = max(map(len, references))
    streams = [[r[n] if n < len(r) else None for r in references] for n in range(most)]
    score = metric.corpus_score(list(hypotheses), streams).score
    return SignedScore(score, str(metric.get_signature()))


def sacrebleu_metrics():
    """Return the module `sacrebleu.metrics`, which is optional."""
    try:
        import sacrebleu.metrics
    except ImportError as error:
        raise missing_package(
            "bleu or chrf", "sacrebleu", error, extra="metrics"
        ) from error
    return sacrebleu.metrics


def _references(owner, hypotheses, references):
    """Return a tuple of references for each hypothesis."""
    for name, texts in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(texts, (str, bytes)):
            raise four_part_error(
                f"{owner} got a single string as its {name}",
                "a list of strings",
                abbreviated(texts),
                f"Put it into a list: {owner}([hypothesis], [reference])",
            )
    references = [(r,) if isinstance(r, str) else tuple(r) for r in references]
    if len(hypotheses) != len(references) or not references:
        raise four_part_error(
            f"{owner} got hypotheses and references of different number",
            "one or more hypotheses, and for each a reference or a list of references",
            f"{len(hypotheses)} hypotheses and {len(references)} references",
            "Check the files: a line may be missing",
        )
    for i, (hypothesis, texts) in enumerate(zip(hypotheses, references, strict=True)):
        if not texts or not all(isinstance(x, str) for x in (hypothesis, *texts)):
            raise four_part_error(
                f"{owner} got something to compare that is not a string",
                "strings",
                f"{abbreviated(hypothesis)} and {abbreviated(texts)} at position {i}",
                "Decode bytes, and pass a reference for every hypothesis",
            )
    return references
