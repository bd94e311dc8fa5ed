"""Text metrics by name, each with its direction."""

import dataclasses
import difflib
import functools
from collections.abc import Callable

from keras_seqattn.errors import four_part_error
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
    """A function of hypotheses and references that knows which way is better.

    Args:
        name: in logs and files.
        function: from a list of strings and as many references (each a string, or a
            list of several) to a number.
        higher_is_better: False for error rates.
        needs: a function without arguments that raises an ImportError where a package
            is missing which the metric needs; None: it needs none.
        is_graded: whether it asks how near a hypothesis is to the reference of its own
            line, as papers on translation report it; False: whether it is right, and
            so is any answer that the files list for the source.

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
        """Raises now what a missing package would raise at the first call."""
        if self.needs is not None:
            self.needs()

    def __call__(self, hypotheses, references):
        return self.function(hypotheses, references)

    def is_better(self, value, than):
        """Whether a value is an improvement; NaN never is, and any number over None."""
        if than is None:
            return value == value
        return value > than if self.higher_is_better else value < than


METRICS = {
    metric.name: metric
    for metric in (
        TextMetric("bleu", bleu, needs=sacrebleu_metrics),
        # Of text that is tokenised already, as some test sets are.
        TextMetric(
            "tokenized_bleu",
            functools.partial(bleu, tokenize="none"),
            needs=sacrebleu_metrics,
        ),
        TextMetric("chrf", chrf, needs=sacrebleu_metrics),
        TextMetric("exact_match", exact_match, is_graded=False),
        # As grapheme-to-phoneme papers count: wrong words, and edits of phonemes.
        TextMetric("wer", word_error_rate, higher_is_better=False, is_graded=False),
        TextMetric("per", token_error_rate, higher_is_better=False, is_graded=False),
    )
}


def text_metric(metric):
    """The `TextMetric` of a name; a `TextMetric` is returned as it is."""
    if isinstance(metric, TextMetric):
        return metric
    if metric in METRICS:
        return METRICS[metric]
    near = difflib.get_close_matches(str(metric), METRICS, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise four_part_error(
        "text_metric got an unknown metric",
        f"one of {sorted(METRICS)} or a TextMetric",
        repr(metric),
        f"{hint}Give a function of your own a name and a direction: "
        "TextMetric(name, function, higher_is_better)",
    )
