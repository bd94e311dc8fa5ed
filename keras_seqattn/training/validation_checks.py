"""What the validation is given, checked and in one form."""

from keras_seqattn.layers.checks import check_choice, check_size
from keras_seqattn.training.text_metric import text_metric


def check_options(every, unit, patience, folder, average, samples):
    """Numbers are numbers, and what is averaged is kept somewhere."""
    check_size("Validation", "every", every)
    check_choice("Validation", "unit", unit, ("epoch", "step"))
    if patience is not None:
        check_size("Validation", "patience", patience)
    for name, value in (("average", average), ("samples", samples)):
        if value != 0:
            check_size("Validation", name, value)
    if average and folder is None:
        raise ValueError(
            "Validation got something to average and no place to keep it. Expected a "
            f"folder, received average={average} and folder=None. Pass folder=..., "
            "where the weights of the last validations are kept."
        )


def as_metrics(metrics):
    """A list of `TextMetric`s with different names, which have what they need."""
    if isinstance(metrics, str):
        metrics = [metrics]
    metrics = [text_metric(metric) for metric in metrics]
    names = [metric.name for metric in metrics]
    if not names or len(set(names)) < len(names):
        raise ValueError(
            "Validation got unusable metrics. Expected one or more, each with a name "
            f"of its own, received {names}. Pass e.g. metrics=['bleu', 'chrf']."
        )
    for metric in metrics:
        metric.check()  # now, not after an epoch
    return metrics


def check_translator(translator):
    """It has a model and translates."""
    if not hasattr(translator, "model") or not hasattr(translator, "translate"):
        raise ValueError(
            "Validation got an unusable translator. Expected an object with a model "
            f"and a method translate(texts), received {translator!r}. Pass a "
            "Translator."
        )


def as_sides(pairs):
    """Source texts, and a reference or several for each."""
    if hasattr(pairs, "source") and hasattr(pairs, "target"):
        pairs = pairs.source, pairs.target
    sources, references = map(list, pairs)
    if len(sources) != len(references) or not sources:
        raise ValueError(
            "Validation got sides of different length. Expected one reference, or a "
            f"list of some, for each of one source or more, received {len(sources)} "
            f"sources and {len(references)} references. Pass (sources, references)."
        )
    return sources, references
