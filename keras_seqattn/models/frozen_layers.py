"""Freezes layers of a model: training does not change their weights."""

import contextlib

from keras_seqattn.checks import nearest
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.models.layer_paths import layer_paths


def freeze(model, names):
    """Freeze layers of a model, so that training does not change their weights.

    Call it before `fit`. A frozen layer has `trainable=False`, as everywhere in Keras,
    and so have all layers inside. Dropout still applies in it.

    Args:
        model: a `keras.Model` with weights, e.g. a `Seq2Seq`.
        names: list of layers: paths of attributes such as "encoder",
            "source_embedding" or "decoder/cell/attention".

    Example:
        >>> model = recommended_model(30, 40, units=8)
        >>> freeze(model, ["encoder", "decoder/cell/attention"])
        >>> model.encoder.trainable, model.decoder.trainable
        (False, True)
    """
    layers = {path: x for path, x in layer_paths(model).items() if x.weights}
    _check(model, names, layers)
    for name in names:
        layers[name].trainable = False


@contextlib.contextmanager
def frozen(model, names):
    """Freeze layers inside a `with`.

    It yields `thawed`: inside `with thawed():` the layers are as before, so that a
    saved model does not say which layers its training froze.
    """
    before = _switches(model)
    freeze(model, names)
    during = _switches(model)

    @contextlib.contextmanager
    def thawed():
        _turn(before)
        try:
            yield
        finally:
            _turn(during)

    try:
        yield thawed
    finally:
        _turn(before)


def _switches(model):
    """Return each layer with its `trainable`; outer layers come first."""
    return [(layer, layer.trainable) for layer in layer_paths(model).values()]


def _turn(switches):
    for layer, value in switches:  # it also changes the layers inside, which follow
        layer.trainable = value


def _check(model, names, layers):
    is_listed = isinstance(names, (list, tuple))
    if not is_listed or not all(isinstance(name, str) for name in names):
        raise four_part_error(
            "freeze got unusable names",
            "a list of paths of layers",
            abbreviated(names),
            'Write e.g. ["encoder"]',
        )
    for name in names:
        if name not in layers:
            outer = [path for path in layers if "/" not in path]
            near = nearest(name, layers)
            raise four_part_error(
                "freeze found no layer of this name that has weights",
                f"{', '.join(outer) or 'none'}, or a layer inside, e.g. decoder/cell",
                repr(name),
                f"Use {near!r}, the nearest" if near else "Check the spelling",
            )
    held = {id(weight) for name in names for weight in layers[name].weights}
    if names and all(id(weight) in held for weight in model.trainable_weights):
        raise four_part_error(
            "freeze got all layers that training could change",
            "some of them",
            ", ".join(map(repr, names)),
            "Leave out the layers that are to learn",
        )
