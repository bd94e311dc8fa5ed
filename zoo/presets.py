"""Numbers by name: what turns a function of sizes into "the paper's model"."""

import functools


def presets(**named):
    """Lets a zoo function be called by the name of a preset.

    `bahdanau2015("small", units=64)` is `bahdanau2015(**SMALL)` with other units; the
    presets themselves are `bahdanau2015.presets`.
    """

    def decorate(build):
        @functools.wraps(build)
        def model(preset=None, **numbers):
            if preset is not None and preset not in named:
                raise ValueError(
                    f"{build.__name__} got an unknown preset. Expected one of "
                    f"{sorted(named)}, received {preset!r}. Leave it out to give all "
                    "numbers yourself."
                )
            return build(**{**named.get(preset, {}), **numbers})

        model.presets = named
        return model

    return decorate
