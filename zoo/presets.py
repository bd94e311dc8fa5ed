"""Numbers by name: what turns a function of sizes into "the paper's model"."""

import functools

from keras_seqattn.checks import check_choice


def presets(**named):
    """Lets a zoo function be called by the name of a preset.

    `bahdanau2015("small", units=64)` is `bahdanau2015(**SMALL)` with other units; the
    presets themselves are `bahdanau2015.presets`.
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
