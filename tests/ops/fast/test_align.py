"""Alignments in a fast loop: those of the definition, and so are their gradients."""

import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.ops import align
from keras_seqattn.ops.fast import align as fast_align
from keras_seqattn.ops.fast.unroll import dynamic_unroll
from keras_seqattn.ops.unroll import static_unroll
from tests.ops.fast.loops import close, results

MASK = tf.constant([[True] * 5, [True, True, False, True, False], [False] * 5])


@pytest.mark.parametrize("between", [(), (2,)])
@pytest.mark.parametrize("is_masked", [False, True])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_softmax(between, is_masked, jit_compile):
    """All real, some, and nothing; alone, and kept by a loop."""
    random = np.random.default_rng(9)
    scores = tf.constant(random.normal(size=(3, 4, *between, 5)) * 5, tf.float32)
    mask = MASK if is_masked else None

    def step_of(module):
        def step(x, total):
            alignment = module.masked_softmax(x + total, mask)
            return alignment, total + tf.sin(3.0 * alignment)

        return step

    def called(module, unroll, scores):
        return results(unroll, step_of(module), scores, tf.zeros_like(scores[:, 0]))

    in_a_loop = tf.function(
        lambda scores: called(fast_align, dynamic_unroll, scores),
        jit_compile=jit_compile,
        autograph=False,
    )(scores)
    expected = called(align, static_unroll, scores)
    close(called(fast_align, static_unroll, scores), expected)
    close(in_a_loop, expected)
    if is_masked:
        (alignments, _), (gradient, _) = in_a_loop
        assert not np.any(alignments[2]) and not np.any(gradient[2])
