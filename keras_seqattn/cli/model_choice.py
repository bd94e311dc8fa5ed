"""From the name of a function to a model."""

import importlib
import inspect
import os
import shlex
import sys

import keras

from keras_seqattn.checks import check_choice
from keras_seqattn.cli.values import Typed, arguments, call
from keras_seqattn.errors import four_part_error

OPTIMIZER = "_optimizer"
VOCABULARIES = ("source_vocabulary", "target_vocabulary")


def find(name):
    """The function of a name.

    Without a dot it is one of the zoo; "package>name" is one that was registered with
    `keras.saving.register_keras_serializable`. Any other name is imported only if it
    was `Typed`: a file does not decide which code runs.
    """
    if _registered(name):
        return _registered(name)
    if not isinstance(name, Typed):
        _check_of_zoo(name)
    module_name, _, function = (name if "." in name else f"zoo.{name}").rpartition(".")
    if module_name.split(".")[0] == "zoo":
        module_name = f"keras_seqattn.{module_name}"
    elif os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # functions of your own
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
            "train found a model in a file that is not a function of the zoo",
            "one of the zoo, one that is registered with Keras, or the same name typed "
            "by you, because a file must not decide which code runs",
            repr(name),
            f"If you trust this code, add --model {shlex.quote(name)}",
        )


def zoo_names():
    """The functions of the zoo, optimizers included."""
    return importlib.import_module("keras_seqattn.zoo").__all__


def _registered(name):
    found = keras.saving.get_registered_object(name) if ">" in name else None
    return found if inspect.isfunction(found) else None


def chosen(settings):
    """The function, and its arguments; but for the vocabularies it lacks nothing."""
    function = find(settings.model)
    presets = getattr(function, "presets", {})
    if settings.preset is not None:
        check_choice(settings.model, "preset", settings.preset, presets)
    usual = presets.get(settings.preset, {})
    values = arguments(settings.model, function, settings.set, usual)
    _check_complete(settings, function, {*usual, *values, *VOCABULARIES})
    if settings.preset is not None:
        values["preset"] = settings.preset
    return function, values


def build(settings, source_vocabulary, target_vocabulary):
    """The model of the settings; its vocabularies have the sizes of the texts."""
    function, values = chosen(settings)
    sizes = source_vocabulary, target_vocabulary
    known = inspect.signature(function).parameters
    vocabularies = zip(VOCABULARIES, sizes, strict=True)
    vocabularies = {name: size for name, size in vocabularies if name in known}
    return call(settings.model, function, {**vocabularies, **values})


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
            "a value for each that has no default",
            f"none for {', '.join(missing)}",
            f"Add {hint}--set " + " ".join(f"{name}=..." for name in missing),
        )
