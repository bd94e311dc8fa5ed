"""From the name of a function to a model."""

import importlib
import inspect
import os
import sys

from keras_seqattn.cli.errors import check_name, user_error
from keras_seqattn.cli.values import arguments, call

OPTIMIZER = "_optimizer"
VOCABULARIES = ("source_vocabulary", "target_vocabulary")


def find(name):
    """A function by its dotted name; without a dot it is one of the zoo."""
    module_name, _, function = (name if "." in name else f"zoo.{name}").rpartition(".")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # functions of your own
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise user_error(
            "train got a model whose module cannot be imported",
            "package.function, or a function of zoo",
            f"{name!r} ({error})",
            "Check the spelling, and start in the folder that holds the module",
        ) from error
    functions = [n for n, value in vars(module).items() if inspect.isfunction(value)]
    known = getattr(module, "__all__", functions)
    if not function.endswith(OPTIMIZER):
        known = [name for name in known if not name.endswith(OPTIMIZER)]
    check_name("train", "model", function, known)
    return getattr(module, function)


def chosen(settings):
    """The function, and its arguments; but for the vocabularies it lacks nothing."""
    function = find(settings.model)
    presets = getattr(function, "presets", {})
    if settings.preset is not None:
        check_name(settings.model, "preset", settings.preset, presets)
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
        raise user_error(
            f"{settings.model} lacks arguments",
            "a value for each that has no default",
            f"none for {', '.join(missing)}",
            f"Add {hint}--set " + " ".join(f"{name}=..." for name in missing),
        )
