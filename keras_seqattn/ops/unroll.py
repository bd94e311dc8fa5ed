"""Loops over time: a step function is applied to a sequence.

`static_unroll` is the definition, a Python loop; `dynamic_unroll` is one
`tf.while_loop` for any length, in one trace. Both have the same signature, results and
gradients.

Keras has no public equivalent: `keras.layers.RNN` cannot emit an alignment beside its
output, and `keras.ops.scan` wants outputs shaped like the state.
"""

import tensorflow as tf
from keras import ops, tree

from keras_seqattn.errors import four_part_error
from keras_seqattn.ops.mask import zero_padding


def static_unroll(step, inputs, state, mask=None, project=None):
    """Apply `step` to one position after the other.

    Args:
        step: function `(inputs_t, state) -> (outputs_t, state)`; nests of tensors
            `[batch, ...]`, the state's structure, shapes and dtypes do not change.
        inputs: nest of `[batch, time, ...]`, the size of time known.
        state: nest of `[batch, ...]`.
        mask: `[batch, time]`, True = real, or None. Where it is False, the outputs are
            zero and the state is that of the step before.
        project: function that is applied to the inputs of all positions at once,
            before the loop; it acts on the last axis alone. None: no function.

    Returns:
        outputs, nest of `[batch, time, ...]`, and the last state.
    """
    time = tree.flatten(inputs)[0].shape[1]
    if time is None:
        raise four_part_error(
            "static_unroll got inputs of unknown length",
            "a static time axis",
            f"shapes {tree.map_structure(lambda x: x.shape, inputs)}",
            "Use dynamic_unroll (unroll=False) for lengths known only at run time",
        )
    if time == 0:
        raise four_part_error(
            "static_unroll got inputs without a single step",
            "time >= 1",
            f"shapes {tree.map_structure(lambda x: x.shape, inputs)}",
            "Pass at least one position, masked if it is not real",
        )
    inputs = inputs if project is None else project(inputs)
    outputs = []
    for t in range(time):
        inputs_t = tree.map_structure(lambda x, t=t: x[:, t], inputs)
        mask_t = None if mask is None else mask[:, t]
        outputs_t, state = masked_step(step, inputs_t, state, mask_t)
        outputs.append(outputs_t)
    outputs = tree.map_structure(lambda *o: ops.stack(o, axis=1), *outputs)
    return zero_outputs(outputs, mask), state


def dynamic_unroll(step, inputs, state, mask=None, project=None):
    """As `static_unroll`, for lengths known at run time: one trace for all."""
    if in_eager_mode():
        return static_unroll(step, inputs, state, mask, project)
    inputs = tree.map_structure(swap, inputs)
    if project is not None:
        inputs = project(inputs)  # after the swap, which is cheaper on the inputs
    everything = inputs if mask is None else (inputs, swap(mask))
    time = tf.shape(tree.flatten(everything)[0])[0]
    arrays = [
        tf.TensorArray(x.dtype, time, element_shape=x.shape[1:]).unstack(x)
        for x in tree.flatten(everything)
    ]

    def step_at(t, state):
        now = tree.pack_sequence_as(everything, [array.read(t) for array in arrays])
        inputs_t, mask_t = (now, None) if mask is None else now
        return masked_step(step, inputs_t, state, mask_t)

    with tf.__internal__.FuncGraph("one_step").as_default():  # never run
        specs, _ = step_at(tf.constant(0), state)
    written = [
        tf.TensorArray(spec.dtype, time, element_shape=spec.shape)
        for spec in tree.flatten(specs)
    ]

    def body(t, state, written):
        outputs_t, new = step_at(t, state)
        # A cell may lose static shapes that the state before had.
        new = tree.map_structure(lambda n, s: tf.ensure_shape(n, s.shape), new, state)
        pairs = zip(written, tree.flatten(outputs_t), strict=True)
        return t + 1, new, [array.write(t, output) for array, output in pairs]

    start = tree.map_structure(tf.convert_to_tensor, state)
    _, state, written = tf.while_loop(
        lambda t, *_: t < time,
        body,
        (tf.constant(0), start, written),
        maximum_iterations=time,  # XLA sizes the stacks of the gradient by it
    )
    outputs = [swap(array.stack()) for array in written]
    return zero_outputs(tree.pack_sequence_as(specs, outputs), mask), state


def in_eager_mode():
    """Whether TensorFlow runs eagerly."""
    return tf.executing_eagerly()


def masked_step(step, inputs_t, state, mask_t):
    """Apply `step` where the mask is True; elsewhere the state stays the same."""
    outputs_t, new = step(inputs_t, state)
    if mask_t is None:
        return outputs_t, new

    def real_or_past(new, past):
        real = mask_t[(..., *[None] * (len(new.shape) - 1))]
        return tf.where(real, new, past)

    return outputs_t, tree.map_structure(real_or_past, new, state)


def zero_outputs(outputs, mask):
    """Set the outputs of masked positions to zero."""
    return tree.map_structure(lambda x: zero_padding(x, mask), outputs)


def swap(x):
    """Batch-major to time-major and back."""
    return tf.transpose(x, [1, 0, *range(2, len(x.shape))])
