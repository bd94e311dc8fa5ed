"""Presets: named sets of sizes for a zoo function, such as "paper"."""

import functools

from keras_seqattn.checks import check_choice


def presets(**named):
    """Return a decorator, so that a zoo function accepts the name of a preset.

    `bahdanau2015("small", units=64)` calls `bahdanau2015(**SMALL)` with other units.
    `bahdanau2015.presets` is the dict of the presets.
    """

    def decorate(build):
        @functools.wraps(build)
        def model(preset=None, **numbers):
            if preset is not None:
                check_choice(build.__name__, "preset", preset, named)
            return build(**{**named.get(preset, {}), **numbers})

        model.presets = named
        return model

    return decorate
