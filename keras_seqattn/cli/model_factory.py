"""Make the model of the settings, and its optimizer."""

import importlib
import inspect
import os
import shlex
import sys

import keras

from keras_seqattn.checks import check_choice
from keras_seqattn.cli.typed_arguments import call_with, parse_arguments
from keras_seqattn.errors import four_part_error
from keras_seqattn.optimizers.fused_adam import FusedAdam
from keras_seqattn.optimizers.schedules import HalvingDecay, InverseRootSchedule
from keras_seqattn.translator.default_model import recommended_model
from seqattn_command.settings import Typed

PAPER = "paper"
RECOMMENDED = "recommended"
# Base classes, and classes that wrap other optimizers.
_NO_OPTIMIZERS = ("optimizer", "lossscaleoptimizer", "multioptimizer")
OPTIMIZER = "_optimizer"
VOCABULARIES = ("source_vocabulary", "target_vocabulary")


def find_function(name):
    """Return the function with a name.

    "recommended" is `recommended_model`, and another name without a dot is a function
    of the zoo; "package>name" is a function that was
    registered with `keras.saving.register_keras_serializable`. Any other name is
    imported only if it is `Typed`: a file must not decide which code runs.
    """
    if name == RECOMMENDED:
        return recommended_model
    if _registered(name):
        return _registered(name)
    if not isinstance(name, Typed):
        _check_of_zoo(name)
    module_name, _, function = (name if "." in name else f"zoo.{name}").rpartition(".")
    if module_name.split(".")[0] == "zoo":
        module_name = f"keras_seqattn.{module_name}"
    elif os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # the user's own functions
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise four_part_error(
            "train got a model whose module cannot be imported",
            "package.function, or a function of zoo",
            f"{name!r} ({error})",
            "Check the spelling, and start in the folder that holds the module",
        ) from error
    functions = [n for n, value in vars(module).items() if inspect.isfunction(value)]
    known = getattr(module, "__all__", functions)
    if not function.endswith(OPTIMIZER):
        known = [name for name in known if not name.endswith(OPTIMIZER)]
    check_choice("train", "model", function, known)
    return getattr(module, function)


def _check_of_zoo(name):
    if "." in name and name.removeprefix("zoo.") not in zoo_names():
        raise four_part_error(
            "train read a model from a file that is not a function of the zoo",
            "a function of the zoo, a function that is registered with Keras, or a "
            "name that you type, because a file must not decide which code runs",
            repr(name),
            f"If you trust this code, add --model {shlex.quote(name)}",
        )


def zoo_names():
    """Return the names of the functions of the zoo, optimizers included."""
    return importlib.import_module("keras_seqattn.zoo").__all__


def _registered(name):
    value = keras.saving.get_registered_object(name) if ">" in name else None
    return value if inspect.isfunction(value) else None


def model_call(settings):
    """Return the function that makes the model, and its arguments.

    Only the sizes of the vocabularies are not among the arguments.
    """
    function = find_function(settings.model)
    presets = getattr(function, "presets", {})
    if settings.preset is not None:
        check_choice(settings.model, "preset", settings.preset, presets)
    preset = presets.get(settings.preset, {})
    values = parse_arguments(settings.model, function, settings.set, preset)
    _check_complete(settings, function, {*preset, *values, *VOCABULARIES})
    if settings.preset is not None:
        values["preset"] = settings.preset
    return function, values


def make_model(settings, source_vocabulary, target_vocabulary):
    """Return the model of the settings with vocabularies of these sizes."""
    function, values = model_call(settings)
    sizes = source_vocabulary, target_vocabulary
    parameters = inspect.signature(function).parameters
    vocabularies = zip(VOCABULARIES, sizes, strict=True)
    vocabularies = {name: size for name, size in vocabularies if name in parameters}
    return call_with(settings.model, function, {**vocabularies, **values})


def _check_complete(settings, function, values):
    missing = [
        name
        for name, p in inspect.signature(function).parameters.items()
        if p.default is p.empty and p.kind is not p.VAR_KEYWORD and name not in values
    ]
    if missing:
        presets = sorted(getattr(function, "presets", {}))
        hint = f"--preset {presets[-1]}, or " if presets else ""
        raise four_part_error(
            f"{settings.model} lacks arguments",
            "a value for each argument without a default",
            f"none for {', '.join(missing)}",
            f"Add {hint}--set " + " ".join(f"{name}=..." for name in missing),
        )


def make_optimizer(settings, steps_per_epoch):
    """Return an optimizer of Keras, or the optimizer of the model's paper."""
    if settings.optimizer == PAPER:
        return _make_optimizer_of_paper(settings, steps_per_epoch)
    classes = optimizer_classes()
    check_choice("train", "optimizer", settings.optimizer, [*classes, PAPER])
    values = {
        "learning_rate": make_schedule(settings, settings.epochs * steps_per_epoch),
        "global_clipnorm": settings.clip_norm or None,
    }
    if settings.weight_decay:  # else the default of the optimizer: AdamW needs a number
        values["weight_decay"] = settings.weight_decay
    if settings.ema:
        values |= {"use_ema": True, "ema_momentum": settings.ema}
    name, cls = settings.optimizer, classes[settings.optimizer]
    values |= parse_arguments(name, cls, settings.optimizer_options)
    try:
        return call_with(name, cls, values)
    except ValueError as error:  # Keras's own
        raise four_part_error(
            f"{name} cannot use its arguments together",
            "arguments that Keras accepts",
            f"{values} with the error {str(error)!r}",
            "Change --optimizer-option; --clip-norm 0 switches the usual clipping off",
        ) from error


def make_schedule(settings, steps):
    """Return a constant learning rate or a schedule."""
    rate, warmup = settings.learning_rate, settings.warmup
    if settings.schedule == "nvidia_gnmt":
        return HalvingDecay.nvidia_gnmt(steps, rate)
    if settings.schedule == "inverse_root":
        return InverseRootSchedule(rate, warmup)
    if settings.schedule.startswith("luong"):
        return HalvingDecay.tensorflow_nmt(settings.schedule, steps, rate, warmup)
    if settings.schedule == "constant" and not warmup:
        return rate
    return keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=0.0 if warmup else rate,
        warmup_target=rate if warmup else None,
        warmup_steps=warmup,
        decay_steps=max(1, steps - warmup),
        alpha=1.0 if settings.schedule == "constant" else 0.0,  # 1.0: it does not fall
    )


def optimizer_classes():
    """Return `{"adam": FusedAdam, "sgd": keras.optimizers.SGD, ...}`."""
    base = keras.optimizers.Optimizer
    classes = [c for c in vars(keras.optimizers).values() if inspect.isclass(c)]
    names = {c.__name__.lower(): c for c in classes if issubclass(c, base)}
    usable = {name: c for name, c in names.items() if name not in _NO_OPTIMIZERS}
    return {**usable, "adam": FusedAdam}  # the same update as Keras's Adam, in one pass


def _make_optimizer_of_paper(settings, steps_per_epoch):
    name = f"{settings.model}{OPTIMIZER}"
    if isinstance(settings.model, Typed):
        name = Typed(name)
    try:
        function = find_function(name)
    except ValueError as error:
        raise four_part_error(
            "train did not find the optimizer of the paper",
            f"a function {name} beside the model's function",
            "none",
            "Name an optimizer of Keras, e.g. --optimizer adam",
        ) from error
    values = parse_arguments(name, function, settings.optimizer_options)
    if "steps_per_epoch" in inspect.signature(function).parameters:
        values = {"steps_per_epoch": steps_per_epoch, **values}
    optimizer = call_with(name, function, values)
    if settings.ema:
        optimizer.use_ema, optimizer.ema_momentum = True, settings.ema
    return optimizer
