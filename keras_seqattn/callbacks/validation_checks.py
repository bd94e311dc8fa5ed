"""What the validation is given, checked and in one form."""

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import four_part_error
from keras_seqattn.metrics.text_metric import text_metric


def check_options(every, unit, patience, folder, average, samples):
    """Numbers are numbers, and what is averaged is kept somewhere."""
    check_count("Validation", "every", every)
    check_choice("Validation", "unit", unit, ("epoch", "step"))
    if patience is not None:
        check_count("Validation", "patience", patience)
    for name, value in (("average", average), ("samples", samples)):
        if value != 0:
            check_count("Validation", name, value)
    if average and folder is None:
        raise four_part_error(
            "Validation got something to average and no place to keep it",
            "a folder",
            f"average={average} and folder=None",
            "Pass folder=..., where the weights of the last validations are kept",
        )


def as_metrics(metrics):
    """A list of `TextMetric`s with different names, which have what they need."""
    if isinstance(metrics, str):
        metrics = [metrics]
    metrics = [text_metric(metric) for metric in metrics]
    names = [metric.name for metric in metrics]
    if not names or len(set(names)) < len(names):
        raise four_part_error(
            "Validation got unusable metrics",
            "one or more, each with a name of its own",
            names,
            "Pass e.g. metrics=['bleu', 'chrf']",
        )
    for metric in metrics:
        metric.check()  # now, not after an epoch
    return metrics


def check_translator(translator):
    """It has a model and translates."""
    if not hasattr(translator, "model") or not hasattr(translator, "translate"):
        raise four_part_error(
            "Validation got an unusable translator",
            "an object with a model and a method translate(texts)",
            repr(translator),
            "Pass a Translator",
        )


def as_sides(pairs):
    """Source texts, and a reference or several for each."""
    if hasattr(pairs, "source") and hasattr(pairs, "target"):
        pairs = pairs.source, pairs.target
    sources, references = map(list, pairs)
    if len(sources) != len(references) or not sources:
        raise four_part_error(
            "Validation got sides of different length",
            "one reference, or a list of some, for each of one source or more",
            f"{len(sources)} sources and {len(references)} references",
            "Pass (sources, references)",
        )
    return sources, references
