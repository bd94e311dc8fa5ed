"""Text metrics with their names and directions."""

import dataclasses
import functools
from collections.abc import Callable

from keras_seqattn.checks import nearest
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.metrics.text_scores import (
    bleu,
    chrf,
    exact_match,
    sacrebleu_metrics,
    token_error_rate,
    word_error_rate,
)


@dataclasses.dataclass(frozen=True)
class TextMetric:
    """A function of hypotheses and references, with a name and a direction.

    Args:
        name: the name in logs and files.
        function: a function of a list of strings and as many references (each a
            string, or a list of several) that returns a number.
        higher_is_better: whether larger values are better; False for error rates.
        needs: a function without arguments that raises an ImportError if a package is
            missing that the metric needs; None: it needs no package.
        is_graded: True: the metric measures how similar a hypothesis is to the
            reference of its own line, as papers on translation do. False: it measures
            whether a hypothesis is right; every target that the files list for the
            same source is right.

    Example:
        >>> def length_ratio(hypotheses, references):
        ...     return len("".join(hypotheses)) / len("".join(references))
        >>> TextMetric("length_ratio", length_ratio)(["ab"], ["abcd"])
        0.5
    """

    name: str
    function: Callable
    higher_is_better: bool = True
    needs: Callable | None = None
    is_graded: bool = True

    def check(self):
        """Raise the error of a missing package now, not at the first call."""
        if self.needs is not None:
            self.needs()

    def __call__(self, hypotheses, references):
        return self.function(hypotheses, references)

    def is_better(self, value, than):
        """Whether a value is better than another; NaN never is, None is the worst."""
        if than is None:
            return value == value
        return value > than if self.higher_is_better else value < than


METRICS = {
    metric.name: metric
    for metric in (
        TextMetric("bleu", bleu, needs=sacrebleu_metrics),
        # For text that is already tokenised, as in some test sets.
        TextMetric(
            "tokenized_bleu",
            functools.partial(bleu, tokenize="none"),
            needs=sacrebleu_metrics,
        ),
        TextMetric("chrf", chrf, needs=sacrebleu_metrics),
        TextMetric("exact_match", exact_match, is_graded=False),
        # As in grapheme-to-phoneme papers: wrong words, and edits of phonemes.
        TextMetric("wer", word_error_rate, higher_is_better=False, is_graded=False),
        TextMetric("per", token_error_rate, higher_is_better=False, is_graded=False),
    )
}


def text_metric(metric):
    """Return the `TextMetric` with a name; a `TextMetric` is returned unchanged."""
    if isinstance(metric, TextMetric):
        return metric
    if metric in METRICS:
        return METRICS[metric]
    near = nearest(metric, METRICS)
    hint = f"Use {near!r}, the nearest, or wrap" if near else "Wrap"
    raise four_part_error(
        "text_metric got an unknown metric",
        f"one of {', '.join(sorted(METRICS))}, or a TextMetric",
        abbreviated(metric),
        f"{hint} a custom function: TextMetric(name, function, higher_is_better)",
    )
