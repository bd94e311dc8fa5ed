"""Checks of the arguments of `Validation`."""

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import four_part_error
from keras_seqattn.metrics.text_metric import text_metric


def check_options(every, unit, patience, folder, average, samples):
    """Check the numbers, and that there is a folder for weights to average."""
    check_count("Validation", "every", every)
    check_choice("Validation", "unit", unit, ("epoch", "step"))
    if patience is not None:
        check_count("Validation", "patience", patience)
    for name, value in (("average", average), ("samples", samples)):
        if value != 0:
            check_count("Validation", name, value)
    if average and folder is None:
        raise four_part_error(
            "Validation got an average without a folder",
            "a folder that keeps the weights of the last validations",
            f"average={average} and folder=None",
            "Pass folder='...', or average=0",
        )


def as_metrics(metrics):
    """Return a list of `TextMetric`s with different names and installed packages."""
    if isinstance(metrics, str):
        metrics = [metrics]
    metrics = [text_metric(metric) for metric in metrics]
    names = [metric.name for metric in metrics]
    if not names or len(set(names)) < len(names):
        raise four_part_error(
            "Validation got unusable metrics",
            "one metric or more with different names",
            names,
            "Pass e.g. metrics=['bleu', 'chrf']",
        )
    for metric in metrics:
        metric.check()  # now, not after an epoch
    return metrics


def check_translator(translator):
    """Check that an object has a model and translates."""
    if not hasattr(translator, "model") or not hasattr(translator, "translate"):
        raise four_part_error(
            "Validation got an unusable translator",
            "an object with a model and a method translate(texts)",
            repr(translator),
            "Pass a Translator",
        )


def as_sides(pairs):
    """Return two lists: source texts, and one or several references for each."""
    if hasattr(pairs, "source") and hasattr(pairs, "target"):
        pairs = pairs.source, pairs.target
    sources, references = map(list, pairs)
    if len(sources) != len(references) or not sources:
        raise four_part_error(
            "Validation got sides of different length",
            "one or more sources, and for each a reference or a list of references",
            f"{len(sources)} sources and {len(references)} references",
            "Pass (sources, references)",
        )
    return sources, references
