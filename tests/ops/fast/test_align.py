"""Alignments in a fast loop: those of the definition, and so are their gradients."""

import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.ops import align
from keras_seqattn.ops.fast import align as fast_align
from keras_seqattn.ops.fast.unroll import dynamic_unroll
from keras_seqattn.ops.unroll import static_unroll

MASK = tf.constant([[True] * 5, [True, True, False, True, False], [False] * 5])


@pytest.mark.parametrize("between", [(), (2,)])
@pytest.mark.parametrize("is_masked", [False, True])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_softmax(between, is_masked, jit_compile):
    """All real, some, and nothing; alone, and kept by a loop."""
    random = np.random.default_rng(9)
    scores = tf.constant(random.normal(size=(3, 4, *between, 5)) * 5, tf.float32)
    mask = MASK if is_masked else None

    def alignments(module, unroll, scores):
        def step(x, total):
            alignment = module.masked_softmax(x + total, mask)
            return alignment, total + tf.sin(alignment)

        with tf.GradientTape() as tape:
            tape.watch(scores)
            found, total = unroll(step, scores, tf.zeros_like(scores[:, 0]))
            loss = tf.reduce_sum(tf.cos(3.0 * found)) + tf.reduce_sum(total**2)
        return found, tape.gradient(loss, scores)

    expected = alignments(align, static_unroll, scores)
    alone = alignments(fast_align, static_unroll, scores)
    in_a_loop = tf.function(
        lambda x: alignments(fast_align, dynamic_unroll, x),
        jit_compile=jit_compile,
        autograph=False,
    )(scores)
    for found in (alone, in_a_loop):
        for f, e in zip(found, expected, strict=True):
            np.testing.assert_allclose(f, e, rtol=1e-5, atol=1e-6)
    if is_masked:
        assert not np.any(in_a_loop[0][2]) and not np.any(in_a_loop[1][2])
