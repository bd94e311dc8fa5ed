"""Back through the beams: where each surviving hypothesis was at every step."""

import tensorflow as tf


def paths(parents, steps, count):
    """The places of the first `count` hypotheses, step by step.

    Args:
        parents: int32 `[target, batch, beam]`: the place, one step before, of the
            hypothesis that is now in each place.
        steps: how many of them were taken; those after are not followed.
        count: Python int.

    Returns:
        int32 `[target + 1, batch, count]`: entry t is the place before step t, so that
        entry t + 1 holds the token chosen at step t and entry t the alignment. Zeros
        after `steps`.
    """
    size = tf.shape(parents)[0]
    last = tf.range(count)[None] + tf.zeros_like(parents[0, :, :1])
    places = tf.TensorArray(tf.int32, size + 1, element_shape=last.shape)

    def before(t, place, places):
        place = tf.gather(parents[t], place, batch_dims=1)
        return t - 1, place, places.write(t, place)

    _, _, places = tf.while_loop(
        lambda t, *_: t >= 0,
        before,
        (steps - 1, last, places.write(steps, last)),
        maximum_iterations=size,
    )
    return places.stack()
