"""How good hypotheses are, as strings: BLEU, chrF, exact match and error rates."""

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error
from keras_seqattn.metrics.levenshtein import edit_distance


class SignedScore(float):
    """A score that says in its `signature` how it was computed."""

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
            that is tokenised already, "zh", "ja-mecab", "intl", "char", ...
        lowercase: whether case is ignored.
        effective_order: whether n-grams longer than the hypotheses are left out of the
            mean, for a sentence on its own: one of three words is else 0, if correct.

    Returns:
        A float; its attribute `signature` is what to write beside it in a paper.

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
    force = tokenize == "none"  # said to be tokenised: no warning that it looks so
    try:
        metric = metric(
            tokenize=tokenize,
            lowercase=lowercase,
            force=force,
            effective_order=effective_order,
        )
    except (ImportError, RuntimeError) as error:  # RuntimeError: of the mecab ones
        extras = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}
        raise four_part_error(
            "bleu needs a package that is not installed",
            "those of the tokenizer",
            f"tokenize={tokenize!r} without them",
            f'Run pip install "{extras.get(tokenize, "sentencepiece")}", or choose '
            "another tokenizer",
            kind=ImportError,
        ) from error
    return _score("bleu", metric, hypotheses, references)


def chrf(hypotheses, references, word_order=0, lowercase=False):
    """chrF of a whole test set, in percent, by sacreBLEU: n-grams of characters.

    Args:
        hypotheses: list of strings.
        references: as many strings, or lists of several strings each.
        word_order: longest n-gram of words that counts, too; 2 is chrF++.
        lowercase: whether case is ignored.

    Returns:
        A float; its attribute `signature` is what to write beside it in a paper.

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
    """Share of the hypotheses that equal their reference, or one of them, in percent.

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
    found = [h in known for h, known in zip(hypotheses, references, strict=True)]
    return 100.0 * sum(found) / len(found)


def word_error_rate(hypotheses, references):
    """Share of the hypotheses that are wrong, in percent, where each is one word.

    It is what papers on grapheme-to-phoneme conversion call WER: a pronunciation is
    right if it equals any of those listed, blanks around and between its tokens aside.
    In speech recognition, where a hypothesis is a sentence, WER counts its words one by
    one: that is `token_error_rate`.

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
    references = [[" ".join(r.split()) for r in known] for known in references]
    hypotheses = [" ".join(h.split()) for h in hypotheses]
    return 100.0 - exact_match(hypotheses, references)


def token_error_rate(hypotheses, references, tokenize=str.split):
    """Edits between hypotheses and references, in percent of the references' tokens.

    With phonemes it is PER, with words the WER of speech recognition. Of several
    references the nearest one counts, with its length; of equally near ones the
    shortest.

    Args:
        hypotheses: list of strings, tokens between spaces.
        references: as many strings, or lists of several strings each.
        tokenize: function from a string to its tokens; `list` for characters (CER).

    Equations:
        r_i = argmin{d(h_i, r) : r in R_i}
        rate = 100 sum{d(h_i, r_i) : i} / sum{|r_i| : i}

    Example:
        >>> token_error_rate(["T AH", "K AE T"], [["T UW", "T AH"], "K AA T"])
        20.0
    """
    references = _references("token_error_rate", hypotheses, references)
    edits = tokens = 0
    for hypothesis, known in zip(hypotheses, references, strict=True):
        hypothesis, known = tokenize(hypothesis), [tokenize(r) for r in known]
        nearest = min((edit_distance(hypothesis, r), len(r)) for r in known)
        edits, tokens = edits + nearest[0], tokens + nearest[1]
    return 100.0 * edits / max(tokens, 1)


def _score(owner, metric, hypotheses, references):
    references = _references(owner, hypotheses, references)
    # sacreBLEU wants the first reference of each, then the second ones, ...
    most = max(map(len, references))
    streams = [[r[n] if n < len(r) else None for r in references] for n in range(most)]
    score = metric.corpus_score(list(hypotheses), streams).score
    return SignedScore(score, str(metric.get_signature()))


def sacrebleu_metrics():
    """The module; it may be absent."""
    try:
        import sacrebleu.metrics
    except ImportError as error:
        raise four_part_error(
            "bleu and chrf need a package that is not installed",
            "sacrebleu",
            "an ImportError",
            'Run pip install "keras_seqattn[metrics]"',
            kind=ImportError,
        ) from error
    return sacrebleu.metrics


def _references(owner, hypotheses, references):
    """For each hypothesis a tuple of its references."""
    references = [(r,) if isinstance(r, str) else tuple(r) for r in references]
    if len(hypotheses) != len(references) or not references:
        raise four_part_error(
            f"{owner} got hypotheses and references that do not fit",
            "one reference, or a list of some, for each of one hypothesis or more",
            f"{len(hypotheses)} hypotheses and {len(references)} references",
            "Check the files: a line may be missing",
        )
    for i, (hypothesis, known) in enumerate(zip(hypotheses, references, strict=True)):
        if not known or not all(isinstance(x, str) for x in (hypothesis, *known)):
            raise four_part_error(
                f"{owner} got something to compare that is no text",
                "strings",
                f"{hypothesis!r} and {known!r} at position {i}",
                "Decode bytes, and give every hypothesis a reference",
            )
    return references
