"""Prints how many parameters every preset of every model has.

    python -m zoo.parameters

It allocates no weights; those of the largest model would take 1.5 GB.
"""

import keras

from keras_seqattn import zoo


def count_parameters(build, preset):
    """Return the number of parameters of `build(preset)`, from shapes only."""
    with keras.StatelessScope(initialize_variables=False):
        return build(preset).count_params()


def models():
    """Return the functions of the zoo that build a model."""
    names = [name for name in zoo.__all__ if not name.endswith("_optimizer")]
    return [getattr(zoo, name) for name in names]


def main():
    """Print a line for each preset."""
    for build in models():
        for preset in build.presets:
            count = count_parameters(build, preset)
            print(f"{build.__name__:16}{preset:12}{count:>13,}")


if __name__ == "__main__":
    main()
