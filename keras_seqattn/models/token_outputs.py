"""Models that return a dict: which losses, metrics and labels are for which output.

Keras applies a loss without a name to every output, and wants labels for each. Here
what has no name is for the logits, and an output without a loss needs no labels.
"""

import keras

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.models.fit_arguments import logits_part

OUTPUTS = ("logits", "alignment")
_METRICS = ("metrics", "weighted_metrics")


def as_names(owner, outputs):
    """Return the names of the outputs of a model; (): it returns the logits alone."""
    if isinstance(outputs, str) and outputs == "logits":
        return ()
    names = outputs if isinstance(outputs, (list, tuple)) else ()
    if "logits" not in names or any(name not in OUTPUTS for name in names):
        raise four_part_error(
            f"{owner} got unusable outputs",
            f'"logits", or a tuple with "logits" of {OUTPUTS}',
            f"outputs={abbreviated(outputs)}",
            'Pass outputs=("logits", "alignment")',
        )
    return tuple(names)


# compile ------------------------------------------------------------------------------


def compile_arguments(owner, names, arguments):
    """Return the arguments of `compile` of a model with named outputs, as Keras wants.

    If only the logits have a loss and metrics, they have no names: to Keras the model
    has one output. Otherwise they are dicts.

    Args:
        owner: name of the class, for errors.
        names: of the outputs.
        arguments: dict of the arguments of `compile`.
    """
    loss = _by_name(owner, "loss", arguments.get("loss"), names)
    for name, value in loss.items():
        if name != "logits":
            _check_loss(owner, name, value)
    dicts = {"loss": loss}
    for argument in _METRICS:
        dicts[argument] = _by_name(owner, argument, arguments.get(argument), names)
    weights = arguments.get("loss_weights")
    if weights is not None:
        weights = _by_name(owner, "loss_weights", weights, names)
        dicts["loss_weights"] = {name: weights.get(name, 1.0) for name in loss}
    if {name for by_name in dicts.values() for name in by_name} <= {"logits"}:
        dicts = {n: by_name.get("logits") for n, by_name in dicts.items()}
    given = {n: x for n, x in dicts.items() if n in arguments}
    return {**arguments, **given}


def trained_names(names, arguments):
    """Return the names of the outputs with a loss or a metric; (): only the logits."""
    dicts = [arguments.get(name) for name in ("loss", *_METRICS)]
    used = {name for by_name in dicts if isinstance(by_name, dict) for name in by_name}
    return tuple(name for name in names if name in used)


def _by_name(owner, argument, value, names):
    """Return a dict by the names of outputs; what has no name is for the logits."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        if isinstance(value, (list, tuple)) and argument not in _METRICS:
            raise four_part_error(
                f"{owner}.compile got a list as {argument}",
                f"one for the logits, or a dict by the names {list(names)}",
                abbreviated(value),
                f'Pass {argument}={{"logits": ..., "alignment": ...}}',
            )
        return {"logits": value}
    for name in value:
        check_choice(f"{owner}.compile", f"output in {argument}", name, names)
    return {name: x for name, x in value.items() if x is not None}


def _check_loss(owner, name, loss):
    """Check a loss that is not for the logits."""
    is_known = callable(loss) and not isinstance(loss, type)
    if isinstance(loss, str):
        try:
            is_known = keras.losses.get(loss) is not None
        except ValueError:
            pass
    if not is_known:
        raise four_part_error(
            f"{owner}.compile got an unusable loss for {name!r}",
            "a loss, or its name in Keras",
            abbreviated(loss),
            'Pass e.g. keras.losses.KLDivergence(); "auto" is for the logits',
        )


def check_single(model, loss):
    """Check that a model which returns the logits alone gets no dict of losses."""
    is_ours = type(model).call.__module__.startswith("keras_seqattn.")
    if isinstance(loss, dict) and is_ours:
        raise four_part_error(
            f"{type(model).__name__}.compile got a dict of losses",
            "one loss, because the model returns the logits alone",
            f"losses of {sorted(map(str, loss))}",
            'Pass loss="auto", or build the model with outputs=("logits", "alignment")',
        )


# Labels -------------------------------------------------------------------------------


def check_named_labels(model, labels):
    """Check that there are labels for all outputs that are trained."""
    names = model.trained_outputs
    missing = [n for n in names if not isinstance(labels, dict) or n not in labels]
    if missing:
        is_dict = isinstance(labels, dict)
        raise four_part_error(
            f"{type(model).__name__} got no labels for {' and '.join(missing)}",
            f"a dict of labels for {list(names)}",
            f"a dict of {sorted(map(str, labels))}" if is_dict else "labels of ids",
            'Pass e.g. {"logits": ids, "alignment": alignments} as the labels',
        )


def trained_parts(model, *values):
    """Return labels, predictions and weights of the outputs that are trained.

    The model has named outputs.
    """
    names = model.trained_outputs
    if not names:
        return tuple(map(logits_part, values))
    return tuple(
        {name: x.get(name) for name in names} if isinstance(x, dict) else x
        for x in values
    )
