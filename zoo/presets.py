"""Presets: named sets of sizes for a zoo function, such as "paper"."""

import functools
import inspect

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import four_part_error


def presets(**named):
    """Return a decorator, so that a zoo function accepts the name of a preset.

    `bahdanau2015("small", units=64)` calls `bahdanau2015(**SMALL)` with other units.
    `bahdanau2015.presets` is the dict of the presets.
    """

    def decorate(build):
        @functools.wraps(build)
        def model(preset=None, *unnamed, **numbers):
            _check(build, named, preset, unnamed, numbers)
            return build(**{**named.get(preset, {}), **numbers})

        model.presets = named
        return model

    return decorate


def _check(build, named, preset, unnamed, numbers):
    """Check the preset and the names of the arguments: Python would not list them."""
    name, known = build.__name__, ", ".join(map(repr, named))
    if unnamed or isinstance(preset, int):
        raise four_part_error(
            f"{name} got arguments without names",
            f"the name of a preset ({known}), and then arguments by name",
            ", ".join(map(repr, (preset, *unnamed))),
            f'Write e.g. {name}("small", target_vocabulary=8000)',
        )
    if preset is not None:
        check_choice(name, "preset", preset, named)
    arguments = inspect.signature(build).parameters
    for each in numbers:
        check_choice(name, "argument", each, arguments)
        if each.endswith("_vocabulary"):
            _check_vocabulary(name, each, numbers[each])
    given = {**named.get(preset, {}), **numbers}
    needed = [k for k, v in arguments.items() if v.default is v.empty]
    missing = [each for each in needed if each not in given]
    if missing:
        raise four_part_error(
            f"{name} got no {', '.join(missing)}",
            f"the name of a preset ({known}), or all of {', '.join(needed)}",
            f"preset={preset!r} and {', '.join(numbers) or 'nothing'}",
            f'Write e.g. {name}("small", target_vocabulary=8000)',
        )


def _check_vocabulary(name, argument, size):
    if hasattr(size, "vocabulary_size"):
        raise four_part_error(
            f"{name} got a text processor as its {argument}",
            "the size of a vocabulary",
            type(size).__name__,
            f"Pass its attribute vocabulary_size, which is {size.vocabulary_size}",
        )
    check_count(name, argument, size)
