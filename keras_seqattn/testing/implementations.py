"""Checks that the fast implementation of each part of a layer is right."""

import keras
import tensorflow as tf

from keras_seqattn.ops.dispatch import IMPLEMENTATIONS
from keras_seqattn.testing.case import built, sample, under_policy, with_padding
from keras_seqattn.testing.compare import gradients, same, same_gradients

# Largest differences from the reference in float32: of outputs, and of gradients
# relative to their largest entry.
BOUNDS = {
    "float32": (1e-5, 1e-5),
    "mixed_float16": (0.01, 0.02),
    "mixed_bfloat16": (0.06, 0.15),
}


def check_implementations(case, policy="float32"):
    """Check that fast = reference for each part of a layer, with NaN in the padding.

    A part may instead refuse the fast implementation with an error.
    """
    arguments = with_padding(case, sample(case), float("nan"))
    reference = built(with_fast(case, None), arguments)
    expected = gradients(reference, arguments)
    of_outputs, of_gradients = BOUNDS[policy]
    for part in range(number_of_parts(case)):
        try:
            fast = under_policy(with_fast(case, part), policy, arguments)
        except ValueError as error:
            if "cannot run its fast implementation" not in str(error):
                raise
            continue
        fast.set_weights(reference.get_weights())
        graph = tf.function(lambda fast=fast, **kwargs: fast(**kwargs))
        for function in (None, graph):
            results, slopes = gradients(fast, arguments, function)
            results = [x.astype("float32") for x in results]
            # By order, because names of weights contain a count of all layers.
            slopes = dict(zip(expected[1], slopes.values(), strict=True))
            what = f"{case}, part {part}, fast, {policy}"
            same(expected[0], results, of_outputs, what)
            same_gradients(expected[1], slopes, of_gradients, what)


def number_of_parts(case):
    """Return how many layers of a case have an argument `implementation`."""
    return len(list(_places(keras.saving.serialize_keras_object(case.make()))))


def with_fast(case, part):
    """Return the case with one fast part; all other parts are the reference."""

    def make():
        config = keras.saving.serialize_keras_object(case.make())
        for i, place in enumerate(_places(config)):
            place["implementation"] = "fast" if i == part else "reference"
        return keras.saving.deserialize_keras_object(config)

    return case._replace(make=make)


def _places(config):
    """Yield all inner configurations that have an implementation."""
    if isinstance(config, dict):
        if config.get("implementation") in IMPLEMENTATIONS:
            yield config
        config = list(config.values())
    if isinstance(config, (list, tuple)):
        for part in config:
            yield from _places(part)
