"""Fast = reference: for every part of a layer that has both."""

import keras
import tensorflow as tf

from keras_seqattn.ops.dispatch import IMPLEMENTATIONS
from keras_seqattn.testing.case import built, sample, under_policy, with_padding
from keras_seqattn.testing.compare import gradients, same, same_gradients

# Largest difference from the readable one in float32, of outputs and of gradients;
# relative to the largest entry of a gradient.
BOUNDS = {
    "float32": (1e-5, 1e-5),
    "mixed_float16": (0.01, 0.02),
    "mixed_bfloat16": (0.06, 0.15),
}


def check_implementations(case, policy="float32"):
    """Each part's fast implementation, NaN in the padding, or says why it has none."""
    arguments = with_padding(case, sample(case), float("nan"))
    readable = built(with_fast(case, None), arguments)
    expected = gradients(readable, arguments)
    of_outputs, of_gradients = BOUNDS[policy]
    for part in range(number_of_parts(case)):
        try:
            fast = under_policy(with_fast(case, part), policy, arguments)
        except ValueError as error:
            if "cannot run its fast implementation" not in str(error):
                raise
            continue
        fast.set_weights(readable.get_weights())
        graph = tf.function(lambda fast=fast, **given: fast(**given))
        for function in (None, graph):
            results, slopes = gradients(fast, arguments, function)
            results = [x.astype("float32") for x in results]
            # In the same order; the names of weights count the layers made before.
            slopes = dict(zip(expected[1], slopes.values(), strict=True))
            what = f"{case}, part {part}, fast, {policy}"
            same(expected[0], results, of_outputs, what)
            same_gradients(expected[1], slopes, of_gradients, what)


def number_of_parts(case):
    """How many layers of a case have an argument `implementation`."""
    return len(list(_places(keras.saving.serialize_keras_object(case.make()))))


def with_fast(case, part):
    """The case with this part's fast implementation; readable are all the others."""

    def make():
        config = keras.saving.serialize_keras_object(case.make())
        for i, place in enumerate(_places(config)):
            place["implementation"] = "fast" if i == part else "reference"
        return keras.saving.deserialize_keras_object(config)

    return case._replace(make=make)


def _places(config):
    """The configurations inside a configuration that choose an implementation."""
    if isinstance(config, dict):
        if config.get("implementation") in IMPLEMENTATIONS:
            yield config
        config = list(config.values())
    if isinstance(config, (list, tuple)):
        for part in config:
            yield from _places(part)
