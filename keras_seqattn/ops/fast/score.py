"""Scores with a hidden layer, of which only a part exists at a time.

Same names, parameters and results as in `ops/score.py`.
"""

import math

import tensorflow as tf
from keras import ops

from keras_seqattn.ops import score as reference
from keras_seqattn.ops.fast.call_context import under_xla
from keras_seqattn.ops.fast.chunks import ENTRIES, in_chunks, recomputed
from keras_seqattn.ops.mask import per_query
from keras_seqattn.ops.precision import at_least_float32

LARGE = 2**26  # numbers of a hidden layer, 256 MB


def supports(query, keys, v):
    """Return None, or why the fast scores cannot do this call."""
    if len(keys.shape) != 2 + len(v.shape):
        return "the keys differ from query to query"
    return None


def pays(query, keys, v):
    """Whether the fast scores pay: a bool, or a tensor if a graph does not know sizes.

    They save memory, and compute tanh twice: a whole sequence takes longer if the
    hidden layer is small, and about as long from `LARGE` on. A single query is one
    step; autodiff would keep its hidden layer once for each step.
    """
    queries, sizes = query.shape[1 : -len(v.shape)], (*query.shape, keys.shape[1])
    is_known = None not in sizes
    if not queries.rank:
        return is_known and math.prod(sizes) > 2 * ENTRIES
    if is_known:
        return math.prod(sizes) >= LARGE
    if None not in queries and math.prod(queries) < 16:
        return False  # a step of a beam
    if under_xla():
        return True  # XLA decides now: better too slow than too large
    sizes = tf.concat([tf.shape(query), tf.shape(keys)[1:2]], axis=0)
    return tf.reduce_prod(tf.cast(sizes, tf.float32)) >= LARGE


def where(pays, fast, reference):
    """Return `fast` if it pays, else `reference`; a tensor decides at run time."""
    if isinstance(pays, bool):
        return fast if pays else reference
    return lambda *args: tf.cond(pays, lambda: fast(*args), lambda: reference(*args))


def additive_score(query, keys, v, bias=None):
    """`ops.score.additive_score`: without keys that differ from query to query."""
    weights = [v] if bias is None else [v, bias]
    return _of_all(reference.additive_score, query, keys, *weights)


def multi_head_additive_score(query, keys, v):
    """`ops.score.multi_head_additive_score`."""
    return _of_all(_multi_head, query, keys, v)


def _multi_head(query, keys, v):
    """All heads in one product, without a transpose of the hidden layer."""
    heads, units = v.shape
    hidden = tf.tanh(query[..., None, :, :] + per_query(keys, len(query.shape) - 1))
    # [heads * units, heads], a block for each head and zeros elsewhere
    blocks = tf.reshape(
        v[..., None] * tf.eye(heads, dtype=v.dtype)[:, None], (-1, heads)
    )
    scores = tf.matmul(tf.reshape(hidden, (-1, heads * units)), blocks)
    scores = tf.reshape(scores, (*ops.shape(hidden)[:-2], heads))
    return ops.swapaxes(scores, -1, -2)


def _of_all(score, *tensors):
    """`score(query, keys, v, ...)`, for any axes between batch and depth."""
    query, *others = (tf.convert_to_tensor(x) for x in tensors)
    shape = ops.shape(query)
    query, *others = map(at_least_float32, (query, *others))
    depths = len(others[1].shape)  # those of v
    if len(shape) == 1 + depths:  # a single query
        return recomputed(score)(query, *others)
    rows = (shape[0], math.prod(shape[1:-depths]), *shape[-depths:])
    scores = in_chunks(score, tf.reshape(query, rows), *others)
    return tf.reshape(scores, (*shape[:-1], ops.shape(scores)[-1]))
