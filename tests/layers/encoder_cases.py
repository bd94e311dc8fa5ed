"""What the tests of the encoders share: encoders, batches, masks, weights."""

import functools

import numpy as np
import pytest

from keras_seqattn.layers import BiEncoder, PyramidalEncoder, StackedEncoder, UniEncoder

MAKERS = {
    "bi": functools.partial(BiEncoder, 3, layers=2),
    "stacked": functools.partial(StackedEncoder, 3, layers=3),
    "uni": functools.partial(UniEncoder, 3, layers=2, go_backwards=True),
    "pyramidal": functools.partial(PyramidalEncoder, 3, layers=1),
}
ALL = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
MASKS = {
    "none": None,
    "right-padded": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]], bool),
    "left-padded": np.array([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]], bool),
    "holes": np.array([[1, 0, 1, 0, 1], [0, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool),
    "empty row": np.array([[1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool),
}


def sequence(batch=3, source=5, depth=4, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(batch, source, depth)).astype("float32")


def randomize(layer, seed=1):
    """Random weights, biases too: zeros would hide a mistake."""
    random = np.random.default_rng(seed)
    layer.set_weights([0.5 * random.normal(size=w.shape) for w in layer.get_weights()])


def built(make, **options):
    encoder = make(**options)
    encoder.build((None, None, 4))
    randomize(encoder)
    return encoder
