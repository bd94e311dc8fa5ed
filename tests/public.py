"""What is public, for the tests that go through all of it."""

import inspect

import keras

from keras_seqattn.testing import api

PATHS = {
    path: value
    for path, value in api.listed("keras_seqattn").items()
    if not inspect.ismodule(value)
}
# By the last part of the path: no name has two homes.
NAMES = {path.rpartition(".")[2]: value for path, value in PATHS.items()}
CLASSES = {name: value for name, value in NAMES.items() if inspect.isclass(value)}
LAYERS = {
    name: value
    for name, value in CLASSES.items()
    if issubclass(value, keras.layers.Layer) and not issubclass(value, keras.Model)
}


def subclasses(*bases):
    """The public classes that are subclasses of one of these."""
    return {value for value in CLASSES.values() if issubclass(value, bases)}
