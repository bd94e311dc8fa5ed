"""The metrics of a `TokenModel`, checked when `compile` gets them."""

import keras

from keras_seqattn.checks import nearest
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.metrics.text_metric import METRICS
from keras_seqattn.models.token_checks import wants_ids

_NAMES = ("accuracy", "acc")  # Keras chooses the function that fits the labels
_FITTING = (
    keras.metrics.SparseCategoricalAccuracy,
    keras.metrics.SparseTopKCategoricalAccuracy,
    keras.metrics.sparse_categorical_accuracy,
    keras.metrics.sparse_top_k_categorical_accuracy,
)
_USABLE = (*_NAMES, *(function.__name__ for function in _FITTING[2:]))
_BASES = (keras.metrics.Mean, keras.metrics.Sum, keras.metrics.MeanMetricWrapper)
_ADVICE = "weighted_metrics=[metrics.TokenAccuracy(), metrics.Perplexity()]"


def check_metrics(owner, argument, metrics, loss):
    """Check that metrics exist, and that they can read ids and logits.

    Args:
        owner: name for messages.
        argument: "metrics" or "weighted_metrics".
        metrics: what `compile` got: None, a list, a tuple or a dict.
        loss: the loss, which decides what the labels are.
    """
    if metrics and not isinstance(metrics, (list, tuple, dict)):
        raise four_part_error(
            f"{owner} got {argument} that are not a list",
            "a list of metrics",
            abbreviated(metrics),
            f"Pass e.g. {_ADVICE}",
        )
    for metric in keras.tree.flatten(metrics):
        known = _known(owner, metric) if isinstance(metric, str) else metric
        if wants_ids(loss) and not _reads_ids(known):
            what = "does not fit token ids"
            if "sparse_categorical_crossentropy" in _name(known):
                what = "reads logits as probabilities"
            raise four_part_error(
                f"{owner} got a metric that {what}",
                "a metric of ids [batch, target] and logits "
                "[batch, target, vocabulary]",
                abbreviated(metric),
                f"Pass {_ADVICE}",
            )


def _known(owner, name):
    """Return what a name means in Keras; an error if it means nothing."""
    if name in _NAMES:
        return name
    try:
        return keras.metrics.get(name)
    except ValueError:
        pass
    remedy = f"Pass e.g. {_ADVICE}"
    if name.lower() in METRICS:
        remedy = (
            "Texts have this metric: pass it to callbacks.Validation(translator, "
            f"pairs, metrics=[{name.lower()!r}])"
        )
    elif near := nearest(name, _USABLE):
        remedy = f"Use {near!r}, the nearest, or pass e.g. {_ADVICE}"
    raise four_part_error(
        f"{owner} got an unknown metric",
        "a metric, or its name in Keras",
        abbreviated(name),
        remedy,
    )


def _name(metric):
    return getattr(metric, "__name__", getattr(metric, "name", ""))


def _reads_ids(metric):
    """Whether a metric reads ids and logits; one that is not Keras's may do so."""
    kind = metric if isinstance(metric, type) else type(metric)
    of_keras = getattr(metric, "__module__", kind.__module__).startswith("keras.src.")
    if metric is None or metric in _NAMES or not of_keras:
        return True
    if metric in _FITTING or kind in _BASES:
        return True
    if isinstance(metric, (*_FITTING[:2], keras.metrics.IoU)):
        return True
    is_sparse = kind is keras.metrics.SparseCategoricalCrossentropy
    return is_sparse and getattr(metric, "from_logits", False)
