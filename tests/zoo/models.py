"""The small preset of every zoo function, and of its variants."""

import functools

import keras
import numpy as np

from keras_seqattn import zoo
from tests.zoo.rows import ROWS
from tests.zoo.tasks import random_pairs

MODELS = {
    f"{name}-{variant}" if variant else name: (name, options)
    for name, row in ROWS.items()
    for variant, options in {"": {}, **row.variants}.items()
}


@functools.cache
def lively(name):
    """Untrained, with weights large enough to write more than one word."""
    keras.utils.set_random_seed(5)
    function, options = MODELS[name]
    model = getattr(zoo, function)("small", **options)
    random = np.random.default_rng(11)
    for weight in model.trainable_weights:
        noise = random.normal(size=weight.shape)
        weight.assign_add(0.2 * noise if len(weight.shape) > 1 else 0.1 * noise)
    return model


def pairs():
    return random_pairs(np.random.default_rng(3), "copy", 6, longest=5)
