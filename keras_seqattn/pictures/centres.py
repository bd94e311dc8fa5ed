"""Where local attention looks: the centres p_t of its windows."""

import keras
import numpy as np
import tensorflow as tf
from keras import ops, tree

from keras_seqattn.layers.local_attention import LocalAttention, predicted_centres


def local_attention(model):
    """The `LocalAttention` of a model; None: there is none, or more than one."""
    parts = model._flatten_layers() if isinstance(model, keras.layers.Layer) else ()
    local = [part for part in parts if isinstance(part, LocalAttention)]
    return local[0] if len(local) == 1 else None


def centres(model, position, source, target, tokens):
    """The p_t of every token of some hypotheses, as columns of their alignments.

    The t-th query of local-m looks at position t. That of local-p depends on the query,
    and alignments do not tell: the model is made to say the hypotheses once more.

    Args:
        model: a `StepModel` whose only attention is local.
        position: "monotonic" or "predictive".
        source: ids `[batch, source]`.
        target: ids `[batch, n, target]`, n hypotheses of each sentence.
        tokens: `SpecialTokens`.

    Returns:
        `[batch, n, target]`, counted from 0; without meaning in the padding.
    """
    target = np.asarray(target)
    if position == "monotonic":
        return np.broadcast_to(np.arange(target.shape[-1]), target.shape)
    start = np.full_like(target[..., :1], tokens.start)
    fed = np.concatenate([start, target[..., :-1]], axis=-1)
    state, memory = model.start(tf.convert_to_tensor(source))
    state = tree.map_structure(lambda x: _beside(x, target.shape[1]), state)
    places = np.empty(target.shape)
    with predicted_centres() as found:
        for t in range(target.shape[-1]):
            state = model.step(tf.convert_to_tensor(fed[..., t]), state, memory).state
            places[..., t] = ops.convert_to_numpy(found[t]) - 1.0
    return places


def _beside(x, count):
    """`[batch, count, ...]`, the same for all hypotheses."""
    return ops.repeat(x[:, None], count, axis=1)
