"""A fast loop beside its definition: outputs, last state, and all gradients."""

import numpy as np
import tensorflow as tf

from keras_seqattn.ops.fast.unroll import dynamic_unroll
from keras_seqattn.ops.unroll import static_unroll


def results(unroll, step, inputs, state, sources=()):
    """Outputs and last state, flat; gradients of inputs, state and sources."""
    with tf.GradientTape() as tape:
        tape.watch([inputs, state, *sources])
        found = tf.nest.flatten(unroll(step, inputs, state))
        loss = sum(tf.reduce_sum(tf.sin(x)) for x in found)
    sources = [inputs, *tf.nest.flatten(state), *sources]
    return found, tape.gradient(loss, sources, unconnected_gradients="zero")


def close(received, expected):
    pairs = zip(tf.nest.flatten(received), tf.nest.flatten(expected), strict=True)
    for r, e in pairs:
        np.testing.assert_allclose(r, e, rtol=1e-5, atol=1e-6)


def agree(step, inputs, state=None, sources=(), jit_compile=False, unknown=False):
    """Compare them; return the fast one, compiled, and the gradients.

    unknown: batch and time are unknown when the loop is traced.
    """
    state = tf.zeros_like(inputs[:, 0]) if state is None else state
    sizes = (None, None, *inputs.shape[2:]) if unknown else inputs.shape
    graph = tf.function(
        lambda inputs, state: results(dynamic_unroll, step, inputs, state, sources),
        jit_compile=jit_compile,
        autograph=False,
    ).get_concrete_function(tf.TensorSpec(sizes, inputs.dtype), state)
    expected = results(static_unroll, step, inputs, state, sources)
    close(graph(inputs, state), expected)
    return graph.graph.as_graph_def(), expected[1]
