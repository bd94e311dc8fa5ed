"""Settings for a translator that suit the size and the words of the data."""

import dataclasses
import math

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.data.pairs import as_pairs
from keras_seqattn.errors import four_part_error
from keras_seqattn.text import Characters, SentencePiece, WordPiece, Words
from keras_seqattn.translator.text_statistics import TextStatistics

KINDS = ("characters", "subwords", "words")
_KIND_OF = {
    Characters: "characters",
    SentencePiece: "subwords",
    WordPiece: "subwords",
    Words: "words",
}
KEPT = ("source_text", "target_text", "model")  # of a trained translator
MODEL = ("units", "encoder_layers", "dropout")
METRICS = {"sentencepiece": "chrf"}  # of other target texts "exact_match"
LITTLE = 5000  # pairs: with fewer, a translator only knows what its texts show


@dataclasses.dataclass(frozen=True)
class Size:
    """Sizes of the model and of its training for at most this number of pairs."""

    pairs: float
    units: int
    encoder_layers: int
    dropout: float
    batch_size: int
    epochs: int
    learning_rate: float


SIZES = (  # chosen on validation data: `python -m tools.default_settings`
    Size(1_000, 128, 1, 0.3, 16, 30, 3e-3),
    Size(5_000, 256, 1, 0.3, 32, 24, 2e-3),
    Size(50_000, 256, 1, 0.3, 64, 12, 2e-3),
    Size(math.inf, 256, 1, 0.2, 128, 5, 2e-3),
)


@dataclasses.dataclass(frozen=True)
class Recommendation:
    """Settings for a translator, each with its reason.

    Args:
        source_text: kind of the source tokens, e.g. "sentencepiece:4000:bpe".
        target_text: kind of the target tokens.
        model: dict of the arguments of `recommended_model`, without vocabularies.
        batch_size: pairs in a batch.
        epochs: passes over the pairs.
        learning_rate: the largest one; it rises from 0 and falls to 0 as a cosine.
        warmup: number of steps in which the learning rate rises.
        label_smoothing: of the loss.
        metric: name of the metric that chooses the best weights.
        reasons: `{name: why}` for the settings above. "data" is a warning.

    Example:
        >>> recommendation = recommended([("ein Hund", "a dog")] * 100)
        >>> print(recommendation.lines(["model"])[0])
        model          units=128, encoder_layers=1, dropout=0.3 (100 pairs)
    """

    source_text: str
    target_text: str
    model: dict
    batch_size: int
    epochs: int
    learning_rate: float
    warmup: int
    label_smoothing: float
    metric: str
    reasons: dict

    def __str__(self):
        return "\n".join(self.lines(self.reasons))

    def lines(self, names):
        """Return a line for each of these settings: its name, value and reason."""
        values = {**vars(self), "model": _arguments(self.model)}
        lines = [
            f"{name:14} {values[name]} ({why})"
            for name, why in self.reasons.items()
            if name in names and name in values
        ]
        return [*lines, *([self.reasons["data"]] if "data" in self.reasons else [])]


def recommended(pairs, kinds=(None, None), joint=False, epochs=None):
    """Return the `Recommendation` for some pairs.

    Args:
        pairs: `Pairs` for training, or a list of pairs of strings.
        kinds: kinds of the tokens of both sides, "characters", "subwords" or "words",
            where they are known. None: chosen by the words of the texts.
        joint: whether both sides have one vocabulary.
        epochs: passes over the pairs, if they are known. None: by their number.

    Example:
        >>> pairs = [("ein Hund", "a dog"), ("eine Katze", "a cat")] * 100
        >>> recommendation = recommended(pairs)
        >>> recommendation.source_text, recommendation.model["units"]
        ('words', 128)
    """
    pairs = as_pairs("recommended", pairs)
    if not len(pairs):
        raise four_part_error(
            "recommended got no pairs", "one pair or more", "none", "Add pairs"
        )
    if epochs is not None:
        check_count("recommended", "epochs", epochs)
    sides = [TextStatistics.of(side) for side in (pairs.source, pairs.target)]
    if joint:
        sides = 2 * [TextStatistics.of([*pairs.source, *pairs.target])]
    texts, why = zip(*map(_text, sides, kinds), strict=True)
    size = next(size for size in SIZES if len(pairs) <= size.pairs)
    batch_size = _batch_size(size, sides, texts)
    epochs = size.epochs if epochs is None else epochs
    warmup = max(1, math.ceil(len(pairs) / batch_size) * epochs // 20)  # steps
    metric = METRICS.get(texts[1].split(":")[0], "exact_match")
    count = f"{len(pairs)} pairs"
    is_smaller = batch_size < size.batch_size
    reasons = {
        "source_text": why[0],
        "target_text": why[1],
        "model": count,
        "batch_size": "long texts" if is_smaller else count,
        "epochs": count,
        "learning_rate": f"{count}; it rises in {warmup} steps, and then falls to 0",
        "metric": "it suits the target text",
    }
    if len(pairs) < LITTLE:
        reasons["data"] = (
            f"{count} are little data: expect good translations only of texts that are "
            "much like them."
        )
    return Recommendation(
        *texts,
        model={name: getattr(size, name) for name in MODEL},
        batch_size=batch_size,
        epochs=epochs,
        learning_rate=size.learning_rate,
        warmup=warmup,
        label_smoothing=0.1,
        metric=metric,
        reasons=reasons,
    )


def kinds_of(texts):
    """Return the kinds of the tokens of both sides for `recommended`.

    Args:
        texts: the text processors of both sides; None if they are not known.
    """
    return [_KIND_OF.get(type(text)) for text in texts or (None, None)]


def _arguments(values):
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _text(side, kind):
    """Return the kind of tokens that suits the texts of one side, and the reason."""
    if kind is not None:
        check_choice("recommended", "kind", kind, KINDS)
        reason = "the data set says so"
    elif side.words_per_text < 1.5 and side.characters_per_text < 50:
        kind, reason = "characters", "most texts are short and have no blanks"
    elif side.unseen <= 0.005 and side.distinct_words <= 2000:
        kind = "words"
        reason = f"the texts have only {side.distinct_words} different words"
    else:
        kind = "subwords"
        share = f"{100 * side.unseen:.0f} %"
        reason = f"as words, about {share} of a new text would be unknown"
    if kind == "subwords":
        size = _vocabulary_size(side)
        return f"sentencepiece:{size}:bpe", f"{side.words} words; {reason}"
    return kind, reason


def _vocabulary_size(side):
    """Return a number of subwords: each is to occur often enough to be learned."""
    characters = side.distinct_characters + 5  # with special tokens and a blank
    most = characters + side.distinct_words // 2  # more are hardly in the texts
    size = max(characters + 50, 100 * round(7 * math.sqrt(side.words) / 100))
    return min(size, most, 16_000)


def _batch_size(size, sides, texts):
    """Return the pairs in a batch: fewer if the texts are long."""
    lengths = [
        side.characters_per_text if text == "characters" else 1.5 * side.words_per_text
        for side, text in zip(sides, texts, strict=True)
    ]
    tokens = 100 * size.batch_size  # in a batch, at most
    return max(4, min(size.batch_size, round(tokens / max(1, *lengths))))
