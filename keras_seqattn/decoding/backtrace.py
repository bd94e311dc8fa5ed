"""The way back through the beam: where each hypothesis was at every step."""

import tensorflow as tf


def trace_back(parents, steps, count):
    """Return the places of the first `count` hypotheses at every step.

    Args:
        parents: int32 `[target, batch, beam]`: for the hypothesis in each place, the
            place of its parent one step before.
        steps: number of steps that were taken; later parents are not read.
        count: Python int.

    Returns:
        int32 `[target + 1, batch, count]`: entry t is the place before step t. So the
        token that was chosen at step t is in place t + 1, its alignment in place t.
        Zeros after `steps`.
    """
    size = tf.shape(parents)[0]
    last = tf.range(count)[None] + tf.zeros_like(parents[0, :, :1])
    places = tf.TensorArray(tf.int32, size + 1, element_shape=last.shape)

    def one_step_back(t, place, places):
        place = tf.gather(parents[t], place, batch_dims=1)
        return t - 1, place, places.write(t, place)

    _, _, places = tf.while_loop(
        lambda t, *_: t >= 0,
        one_step_back,
        (steps - 1, last, places.write(steps, last)),
        maximum_iterations=size,
    )
    return places.stack()
