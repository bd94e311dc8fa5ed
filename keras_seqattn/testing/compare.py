"""Outputs and gradients as arrays, and comparisons of them."""

import keras
import numpy as np
import tensorflow as tf
from keras import tree

from keras_seqattn.testing.case import tensors


def flat(outputs):
    """Return outputs as a list of NumPy arrays."""
    return [keras.ops.convert_to_numpy(x) for x in tree.flatten(outputs)]


def gradients(layer, arguments, function=None):
    """Return outputs, and gradients of a fixed weighted sum of them.

    Returns:
        outputs as arrays, and a dict of gradients for every trainable weight and every
        float argument.
    """
    function = function or (lambda **arguments: layer(**arguments))
    floats, others = {}, {}
    for name, value in arguments.items():
        is_float = name in tensors(arguments) and all(
            x.dtype.kind == "f" for x in tree.flatten(value)
        )
        (floats if is_float else others)[name] = value
    with tf.GradientTape() as tape:
        floats = tree.map_structure(tf.constant, floats)
        tape.watch(tree.flatten(floats))
        outputs = function(**floats, **others)
        loss = weighted_sum(outputs)
    weights = [weight.value for weight in layer.trainable_weights]
    names = [weight.path for weight in layer.trainable_weights]
    variables = weights + tree.flatten(floats)
    names += [
        f"{name}[{i}]"
        for name in floats
        for i, _ in enumerate(tree.flatten(floats[name]))
    ]
    slopes = tape.gradient(loss, variables, unconnected_gradients="zero")
    slopes = [tf.convert_to_tensor(slope).numpy() for slope in slopes]
    return flat(outputs), dict(zip(names, slopes, strict=True))


def weighted_sum(outputs):
    """Return a sum of all entries of all float outputs with different weights."""
    total = 0.0
    for x in tree.flatten(outputs):
        if not x.dtype.is_floating:
            continue
        x = tf.cast(x, tf.float64 if x.dtype == tf.float64 else tf.float32)
        x = tf.reshape(x, [-1])
        total += tf.reduce_sum(x * tf.cos(tf.cast(tf.range(tf.size(x)), x.dtype)))
    return total


def same(expected, received, tolerance, what):
    """Raise AssertionError unless arrays agree to `tolerance` (0: bit by bit)."""
    if len(expected) != len(received):
        raise AssertionError(f"{what}: {len(expected)} outputs, then {len(received)}")
    for i, (e, r) in enumerate(zip(expected, received, strict=True)):
        if e.shape != r.shape:
            raise AssertionError(
                f"{what}: output {i} has shape {e.shape}, then {r.shape}"
            )
        if e.size and not np.allclose(e, r, rtol=tolerance, atol=tolerance):
            worst = np.max(np.abs(np.subtract(e, r, dtype="float64")))
            raise AssertionError(f"{what}: output {i} differs by {worst:.3g}")


def same_gradients(expected, received, tolerance, what):
    """Raise unless the gradients agree, relative to the largest entry of each."""
    for name, e in expected.items():
        worst = np.max(np.abs(e - received[name]), initial=0.0)
        if not worst <= tolerance * max(1e-3, np.max(np.abs(e), initial=0.0)):
            raise AssertionError(f"{what}: gradient of {name} differs by {worst:.3g}")


def crop(outputs, like):
    """Return the outputs, cut to the shapes of `like`."""
    return [
        x[tuple(slice(0, size) for size in small.shape)]
        for x, small in zip(outputs, like, strict=True)
    ]
