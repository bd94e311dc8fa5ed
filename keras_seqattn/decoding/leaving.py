"""Finished sentences leave the batch: what remains to be done is for the others."""

from typing import Any, NamedTuple

import tensorflow as tf
from keras import tree


class Present(NamedTuple):
    """The sentences of a batch that are still searched for."""

    rows: Any  # int32 [present], where they stand in the whole batch
    memory: Any
    limits: Any  # int32 [present], the greatest length of each
    mask: Any  # [present, source], of the memory, or None


def pick(nest, index):
    """The rows `index` of all tensors."""
    return tree.map_structure(lambda x: x if x is None else tf.gather(x, index), nest)


def put(whole, rows, nest):
    """`whole`, with `nest` in the place of its `rows`."""
    place = rows[:, None]
    return tree.map_structure(
        lambda x, y: tf.tensor_scatter_nd_update(x, place, y), whole, nest
    )


def among_all(written, rows, batch):
    """What is written of those who are present, as rows of the whole batch.

    Args:
        written: tokens, alignments and, of a beam, parents: those who have left stay
            in their places.
        rows: of those who are present.
        batch: size of the whole batch.
    """
    whole = [
        tf.zeros(tf.concat([[batch], tf.shape(x)[1:]], axis=0), x.dtype)
        for x in written
    ]
    if len(whole) == 3:
        whole[2] += tf.range(tf.shape(whole[2])[1])
    return put(whole, rows, written)


def leave(model, done, present, now, state, last):
    """Half of the batch, as soon as the other half is done.

    Halves, not all who are done: products of few sizes are prepared once, each new size
    costs more time than it saves.

    Args:
        model: `StepModel` that can `select`.
        done: bool `[present]`.
        present: `Present`.
        now: their `Hypotheses`.
        state: of the model.
        last: `Hypotheses` of the whole batch, right for those who have left.

    Returns:
        `(present, now, state, last)`.
    """
    half = tf.size(done) // 2
    open_ones = tf.size(done) - tf.math.count_nonzero(done, dtype=tf.int32)

    def halve():
        stay = tf.argsort(tf.cast(done, tf.int32), stable=True)[:half]
        rows, limits, mask = pick((present.rows, present.limits, present.mask), stay)
        memory = model.select(present.memory, stay)
        staying = Present(rows, memory, limits, mask)
        after = put(last, present.rows, now)
        return staying, pick(now, stay), pick(state, stay), after

    return tf.cond(
        (open_ones <= half) & (open_ones > 0),
        halve,
        lambda: (present, now, state, last),
    )
