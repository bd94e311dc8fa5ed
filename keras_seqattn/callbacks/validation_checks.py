"""Checks of the arguments of `Validation`."""

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.data.pairs import as_pairs
from keras_seqattn.errors import abbreviated, four_part_error
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
            abbreviated(translator),
            "Pass a Translator",
        )


def check_is_trained(translating, trained):
    """Check that `fit` trains weights of the model that translates.

    The two may differ: `ScheduledSampling` wraps the model that translates. If the
    weights of one are not known, nothing is checked.
    """
    known = {id(weight) for weight in getattr(translating, "weights", ())}
    weights = trained.trainable_variables
    if known and weights and not any(id(weight) in known for weight in weights):
        raise four_part_error(
            "Validation got a translator of another model",
            "a translator whose model is trained by this fit",
            f"a translator of {translating!r}, which shares no weight with the trained "
            f"{trained!r}",
            "Call translator.model.fit(...)",
        )


def as_sides(pairs):
    """Return two lists: source texts, and one or several references for each."""
    pairs = as_pairs("Validation", pairs)
    if not pairs:
        raise four_part_error(
            "Validation got no pairs",
            "one pair or more",
            "an empty list",
            "Take for example 1000 pairs that are not in the training set",
        )
    return pairs.source, pairs.target
