"""The loss and the optimizer of a `TokenModel`, as users name them in `compile`."""

import inspect
import warnings

import keras

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import abbreviated, four_part_error, four_parts
from keras_seqattn.losses import FusedCrossentropy, SmoothedCrossentropy
from keras_seqattn.models.token_checks import LOSS_FUNCTIONS, ONE_HOT, SPARSE
from keras_seqattn.optimizers import FusedAdam

_LOSSES = ("auto", "sparse_categorical_crossentropy", "categorical_crossentropy")
# Losses of Keras that cannot read logits, e.g. MeanSquaredError, as class and function.
_UNFIT = [
    loss
    for name, loss in vars(keras.losses).items()
    if callable(loss) and name not in ("Loss", "get", "serialize", "deserialize")
    if "from_logits" not in inspect.signature(loss).parameters
]
_OPTIMIZERS = [
    name.lower()
    for name, kind in vars(keras.optimizers).items()
    if isinstance(kind, type) and "Optimizer" not in name  # those are not for a name
]


def token_loss(owner, loss):
    """Return the loss that `compile` got: a name means one of logits.

    Args:
        owner: name for messages.
        loss: "auto", another name, or any loss of Keras.
    """
    if isinstance(loss, type):
        raise _is_class(owner, "a loss", loss.__name__, 'loss="auto"')
    if isinstance(loss, str):
        return _named(owner, loss)
    if loss in _UNFIT or type(loss) in _UNFIT:
        name = getattr(loss, "__name__", type(loss).__name__)
        raise _unfit(owner, name)
    if loss in LOSS_FUNCTIONS or _takes_probabilities(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        warnings.warn(
            four_parts(
                f"{owner} got a loss of probabilities",
                "a loss of logits, because the head computes logits",
                f"{name} with from_logits=False",
                'Pass loss="auto", or from_logits=True',
            ),
            stacklevel=3,
        )
    return loss


def check_optimizer(owner, optimizer):
    """Check that an optimizer is an object, or a name that Keras knows."""
    if isinstance(optimizer, type):
        name = optimizer.__name__
        raise _is_class(owner, "an optimizer", name, f"{name}(learning_rate=0.001)")
    if isinstance(optimizer, (int, float)):
        raise four_part_error(
            f"{owner} got a number as optimizer",
            "an optimizer, or its name",
            abbreviated(optimizer),
            f"Pass e.g. keras.optimizers.Adam({optimizer})",
        )
    if isinstance(optimizer, str) and not _knows(keras.optimizers, optimizer):
        check_choice(owner, "optimizer", optimizer, _OPTIMIZERS)


def check_scales(model, optimizer):
    """Check that an optimizer reads the learning-rate scales that variables have."""
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    scaled = [v for v in model.trainable_variables if hasattr(v, "learning_rate_scale")]
    if scaled and not isinstance(optimizer, FusedAdam):
        raise four_part_error(
            f"{type(model).__name__} got an optimizer that has one learning rate only",
            "FusedAdam, which reads the learning_rate_scale of each variable",
            abbreviated(optimizer),
            "Pass keras_seqattn.optimizers.FusedAdam(1e-3), or build the encoder with "
            "learning_rate_scale=1",
        )


def _is_class(owner, what, name, example):
    return four_part_error(
        f"{owner} got a class in place of {what}",
        f"{what}, or its name",
        f"the class {name}",
        f"Pass an object, e.g. {example}",
    )


def _named(owner, loss):
    if loss == "auto":
        return FusedCrossentropy()
    if not _knows(keras.losses, loss):
        check_choice(owner, "loss", loss, _LOSSES)
    known = keras.losses.get(loss)
    if known is LOSS_FUNCTIONS[0] or isinstance(known, SPARSE):
        return FusedCrossentropy()
    if known is LOSS_FUNCTIONS[1] or isinstance(known, ONE_HOT):
        return ONE_HOT(from_logits=True)
    if getattr(known, "__module__", "").startswith("keras.src."):  # no logits either
        raise _unfit(owner, repr(loss))
    return loss


def _unfit(owner, received):
    return four_part_error(
        f"{owner} got a loss that does not fit tokens",
        "a cross-entropy of logits",
        received,
        'Pass loss="auto", which takes the ids of the labels',
    )


def _takes_probabilities(loss):
    kinds = (SmoothedCrossentropy, SPARSE, ONE_HOT)
    return isinstance(loss, kinds) and not loss.from_logits


def _knows(module, name):
    try:
        module.get(name)
    except ValueError:
        return False
    return True
