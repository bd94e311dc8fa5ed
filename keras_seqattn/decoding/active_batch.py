"""The sentences that a search still works on; finished sentences leave the batch."""

from typing import Any, NamedTuple

import tensorflow as tf
from keras import tree

from keras_seqattn.decoding.hypotheses import is_tracked


class ActiveBatch(NamedTuple):
    """The sentences of a batch that a search still works on."""

    rows: Any  # int32 [active], their row numbers in the whole batch
    memory: Any  # theirs, of the model
    limits: Any  # int32 [active], the greatest length of each
    mask: Any  # [active, source], of the memory, or None
    finished: Any  # `Hypotheses` of the whole batch, final for sentences that have left


def take_rows(nest, index):
    """Return the rows `index` of all tensors of a nest."""
    return tree.map_structure(lambda x: x if x is None else tf.gather(x, index), nest)


def put_rows(whole, rows, nest):
    """Return the tensors of `whole`, with `nest` in their rows `rows`."""
    place = rows[:, None]
    return tree.map_structure(
        lambda x, y: tf.tensor_scatter_nd_update(x, place, y), whole, nest
    )


def scatter(record, rows, batch):
    """Return the record of a step for the whole batch.

    Args:
        record: `StepRecord` of the active sentences. The others get zeros, and each of
            their hypotheses is its own parent.
        rows: int32 `[active]`, the row numbers of the active sentences.
        batch: size of the whole batch.
    """
    whole = tree.map_structure(
        lambda x: tf.zeros(tf.concat([[batch], tf.shape(x)[1:]], axis=0), x.dtype),
        record,
    )
    if is_tracked(record.parents):
        own_places = tf.range(tf.shape(whole.parents)[1])
        whole = whole._replace(parents=whole.parents + own_places)
    return put_rows(whole, rows, record)


def shrink(model, done, active, now, state):
    """Halve the batch as soon as half of its sentences are done.

    TensorFlow prepares its kernels for every new batch size, which costs more time than
    a slightly smaller batch saves. So the batch is halved, to have few sizes. A
    sentence that is done may stay to make up the half.

    Args:
        model: `StepModel` with `select`.
        done: bool `[active]`.
        active: `ActiveBatch`.
        now: `Hypotheses` of the active sentences.
        state: of the model, for the active sentences.

    Returns:
        `(active, now, state)`, halved or as they were.
    """
    half = tf.size(done) // 2
    open_count = tf.size(done) - tf.math.count_nonzero(done, dtype=tf.int32)

    def halve():
        stay = tf.argsort(tf.cast(done, tf.int32), stable=True)[:half]
        rows, limits, mask = take_rows((active.rows, active.limits, active.mask), stay)
        memory = model.select(active.memory, stay)
        finished = put_rows(active.finished, active.rows, now)
        halved = ActiveBatch(rows, memory, limits, mask, finished)
        return halved, take_rows(now, stay), take_rows(state, stay)

    return tf.cond(
        (open_count <= half) & (open_count > 0),
        halve,
        lambda: (active, now, state),
    )


def gather_all(active, now):
    """Return the `Hypotheses` of the whole batch.

    Args:
        active: `ActiveBatch`, with the hypotheses of the sentences that have left.
        now: `Hypotheses` of the active sentences.
    """
    return put_rows(active.finished, active.rows, now)
