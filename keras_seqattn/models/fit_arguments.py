"""Checks of the arguments of `compile`, `fit` and its siblings, except the data."""

import inspect

import keras
import numpy as np

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import abbreviated, four_part_error


def bind(owner, method, args, kwargs):
    """Return the arguments of a method of Keras by name; an unknown name is an error.

    Args:
        owner: name of the class, for messages.
        method: the method.
        args: arguments without names.
        kwargs: dict of arguments with names.
    """
    signature = inspect.signature(method)
    names = [n for n, p in signature.parameters.items() if p.kind is not p.VAR_KEYWORD]
    for name in kwargs:
        if not name.startswith("_"):  # Keras passes its own ones
            check_choice(f"{owner}.{method.__name__}", "argument", name, names)
    return signature.bind(*args, **kwargs).arguments


def check_arguments(owner, method, arguments):
    """Check the numbers, the callbacks and the weights that `fit` and others got."""
    for name in ("batch_size", "epochs"):
        value = arguments.get(name)
        if value is not None:
            value = int(value) if isinstance(value, np.integer) else value
            check_count(f"{owner}.{method}", name, value)
    callbacks = arguments.get("callbacks")
    if isinstance(callbacks, (list, tuple)):
        check_callbacks(f"{owner}.{method}", callbacks)
    _check_class_weight(owner, arguments.get("class_weight"))


def check_callbacks(owner, callbacks):
    """Check that each callback is an object, and that they are in a list."""
    if not isinstance(callbacks, (list, tuple)):
        raise four_part_error(
            f"{owner} got callbacks that are not a list",
            "a list of callbacks",
            abbreviated(callbacks),
            "Put a single callback into a list: callbacks=[callback]",
        )
    for callback in callbacks:
        if not isinstance(callback, keras.callbacks.Callback):
            name = getattr(callback, "__name__", "MyCallback")
            raise four_part_error(
                f"{owner} got something that is not a callback",
                "objects of keras.callbacks.Callback",
                abbreviated(callback),
                f"Pass an object, e.g. {name}(...)",
            )


def check_loss(model, method, compute_loss):
    """Check that `compile` got a loss, or that the model computes its own.

    Args:
        model: a `TokenModel`.
        method: the name of the method that needs the loss.
        compute_loss: the function of a model that does not compute its own.
    """
    own = type(model).compute_loss is not compute_loss
    own = own or type(model).train_step is not keras.Model.train_step
    if model.compiled and model.loss is None and not own and not model.losses:
        raise four_part_error(
            f"{type(model).__name__}.{method} has no loss to compute",
            "a model that was compiled with a loss",
            "loss=None",
            'Call model.compile("adam", "auto") first',
        )


def _check_class_weight(owner, class_weight):
    """Keras would weight each sentence by the position of its largest id."""
    if class_weight is not None:
        raise four_part_error(
            f"{owner} got a class_weight",
            "None, because a label is a sequence of classes",
            abbreviated(class_weight),
            "Pass weights of tokens instead: sample_weight=weights[labels], "
            "[batch, target]",
        )


def logits_part(whole):
    """Return the part of labels, weights, losses or metrics that is for the logits."""
    return whole.get("logits") if isinstance(whole, dict) else whole


def with_logits_part(whole, part):
    """Return labels or weights with another part for the logits."""
    return {**whole, "logits": part} if isinstance(whole, dict) else part
