"""From settings to an optimizer, with its schedule."""

import inspect

import keras

from keras_seqattn.checks import check_choice
from keras_seqattn.cli.model_choice import find
from keras_seqattn.cli.values import arguments, call
from keras_seqattn.errors import four_part_error
from keras_seqattn.optimizers.fused_adam import FusedAdam
from keras_seqattn.optimizers.schedules import HalvingDecay

PAPER = "paper"
_NO_OPTIMIZERS = ("optimizer", "lossscaleoptimizer", "multioptimizer")  # around others


def optimizer(settings, steps_per_epoch):
    """An optimizer of Keras, or the one that goes with a model of the zoo."""
    if settings.optimizer == PAPER:
        return _of_paper(settings, steps_per_epoch)
    known = _known()
    check_choice("train", "optimizer", settings.optimizer, [*known, PAPER])
    make = known[settings.optimizer]
    values = {
        "learning_rate": schedule(settings, settings.epochs * steps_per_epoch),
        "global_clipnorm": settings.clip_norm or None,
    }
    if settings.weight_decay:  # else that of the optimizer: AdamW wants a number
        values["weight_decay"] = settings.weight_decay
    if settings.ema:
        values |= {"use_ema": True, "ema_momentum": settings.ema}
    more = arguments(settings.optimizer, make, settings.optimizer_options)
    return call(settings.optimizer, make, {**values, **more})


def schedule(settings, steps):
    """A learning rate, or how it changes."""
    rate, warmup = settings.learning_rate, settings.warmup
    if settings.schedule == "nvidia_gnmt":
        return HalvingDecay.nvidia_gnmt(steps, rate)
    if settings.schedule.startswith("luong"):
        return HalvingDecay.tensorflow_nmt(settings.schedule, steps, rate, warmup)
    if settings.schedule == "constant" and not warmup:
        return rate
    return keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=0.0 if warmup else rate,
        warmup_target=rate if warmup else None,
        warmup_steps=warmup,
        decay_steps=max(1, steps - warmup),
        alpha=1.0 if settings.schedule == "constant" else 0.0,  # 1: it does not fall
    )


def _known():
    """`{"adam": FusedAdam, "sgd": keras.optimizers.SGD, ...}`."""
    base = keras.optimizers.Optimizer
    classes = [c for c in vars(keras.optimizers).values() if inspect.isclass(c)]
    found = {c.__name__.lower(): c for c in classes if issubclass(c, base)}
    known = {name: c for name, c in found.items() if name not in _NO_OPTIMIZERS}
    return {**known, "adam": FusedAdam}  # the same, in one pass


def _of_paper(settings, steps_per_epoch):
    name = type(settings.model)(f"{settings.model}_optimizer")  # typed, if that is
    try:
        make = find(name)
    except ValueError as error:
        raise four_part_error(
            "train did not find the optimizer of the paper",
            f"a function {name} beside that of the model",
            "none",
            "Name an optimizer of Keras, e.g. --optimizer adam",
        ) from error
    values = arguments(name, make, settings.optimizer_options)
    if "steps_per_epoch" in inspect.signature(make).parameters:
        values = {"steps_per_epoch": steps_per_epoch, **values}
    made = call(name, make, values)
    if settings.ema:
        made.use_ema, made.ema_momentum = True, settings.ema
    return made
