"""What a search returns, of what was written at its steps."""

import tensorflow as tf

from keras_seqattn.decoding.backtrace import paths
from keras_seqattn.types import Decoded


def result(search, now, mask, steps, tokens, chosen, alignments, parents=None):
    """From what was written, time first, to `[batch, n_best, target, ...]`."""
    ranking = search.rank(now, mask)
    values = [now.lengths, now.log_probs, ranking]
    if search.beam is None:
        values = [x[:, None] for x in values]
        chosen, alignments = chosen[:, :, None], alignments[:, :, None]
    values = [x[:, : search.n_best] for x in values]
    if parents is not None:
        places = paths(parents, steps, search.n_best)
        chosen = tf.gather(chosen, places[1:], batch_dims=2)
        alignments = tf.gather(alignments, places[:-1], batch_dims=2)
    lengths, scores, ranking = values
    rank = len(alignments.shape)
    target_first = tf.transpose(alignments, [1, 2, *range(3, rank - 1), 0, rank - 1])
    real = tf.range(tf.shape(chosen)[0]) < lengths[..., None]
    seen = real[(..., *[None] * (rank - 4), slice(None), None)]
    return Decoded(
        tokens=tf.where(real, tf.transpose(chosen, [1, 2, 0]), tokens.pad),
        lengths=lengths,
        scores=scores,
        ranking=tf.where(lengths > 0, ranking, -float("inf")),
        alignments=tf.where(seen, tf.cast(target_first, tf.float32), 0.0),
    )
