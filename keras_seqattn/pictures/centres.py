"""The centres p_t of the windows of local attention."""

import keras
import numpy as np
import tensorflow as tf
from keras import ops, tree

from keras_seqattn.layers.local_attention import LocalAttention, predicted_centres


def local_attention(model):
    """Return the `LocalAttention` of a model, or None if there is not exactly one."""
    parts = model._flatten_layers() if isinstance(model, keras.layers.Layer) else ()
    local = [part for part in parts if isinstance(part, LocalAttention)]
    return local[0] if len(local) == 1 else None


def centres(model, position, source, target, tokens):
    """Return the p_t of every token of some hypotheses, as columns of alignments.

    In local-m, the t-th query attends around position t. In local-p, p_t depends on
    the query and is not part of the alignment: so the model reads the hypotheses again
    (teacher forcing).

    Args:
        model: a `StepModel` whose only attention is local.
        position: "monotonic" or "predictive".
        source: ids `[batch, source]`.
        target: ids `[batch, n, target]`, n hypotheses of each sentence.
        tokens: `SpecialTokens`.

    Returns:
        `[batch, n, target]`, counted from 0; undefined in the padding.
    """
    target = np.asarray(target)
    if position == "monotonic":
        return np.broadcast_to(np.arange(target.shape[-1]), target.shape)
    start = np.full_like(target[..., :1], tokens.start)
    inputs = np.concatenate([start, target[..., :-1]], axis=-1)
    state, memory = model.start(tf.convert_to_tensor(source))
    state = tree.map_structure(lambda x: _repeated(x, target.shape[1]), state)
    positions = np.empty(target.shape)
    with predicted_centres() as predicted:
        for t in range(target.shape[-1]):
            inputs_t = tf.convert_to_tensor(inputs[..., t])
            state = model.step(inputs_t, state, memory).state
            positions[..., t] = ops.convert_to_numpy(predicted[t]) - 1.0
    return positions


def _repeated(x, count):
    """Return `[batch, count, ...]`, the same values for all hypotheses."""
    return ops.repeat(x[:, None], count, axis=1)
