"""What the tests of the attention mechanisms share."""

import keras
import numpy as np
import tensorflow as tf
from keras import tree

import keras_seqattn as ks
from keras_seqattn.testing.compare import flat, same, same_gradients, weighted_sum

MASK = np.array(
    [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]], bool
)


def sequences(target=3, query_depth=4, memory_depth=6, seed=0):
    """Queries [4, target, query_depth] and values [4, 5, memory_depth], float32."""
    random = np.random.default_rng(seed)
    query = random.normal(size=(4, target, query_depth)).astype("float32")
    return query, random.normal(size=(4, 5, memory_depth)).astype("float32")


def built(layer, query, value, scale=0.7, seed=1):
    """The layer with random weights, biases too: zeros would hide a mistake."""
    layer(query, value)
    random = np.random.default_rng(seed)
    for weight in layer.trainable_weights:
        weight.assign(scale * random.normal(size=weight.shape))
    return layer


def kernel(dense):
    return np.asarray(dense.kernel)


def assert_close(received, expected, atol=2e-6):
    np.testing.assert_allclose(np.asarray(received), expected, rtol=0, atol=atol)


def attend_all(layer, query, value, mask=None, training=None):
    """Contexts, alignments and the last state, one query after the other."""
    memory = layer.prepare(value, mask)
    state, contexts, alignments = layer.initial_state(memory), [], []
    for t in range(query.shape[1]):
        attended = layer.attend(query[:, t], memory, state, training=training)
        contexts.append(attended.context)
        alignments.append(attended.alignment)
        state = attended.state
    return np.stack(contexts, 1), np.stack(alignments, 1), state


def assert_beams_are_independent(layer, beam=3):
    """Two steps with an axis of beams give what every beam gives alone."""
    random = np.random.default_rng(5)
    query = random.normal(size=(4, 2, beam, 4)).astype("float32")
    _, value = sequences()
    memory = built(layer, query[:, :, 0], value).prepare(value, MASK)
    first = layer.initial_state(memory)
    together = tree.map_structure(lambda x: np.stack([x] * beam, axis=1), first)
    alone = [first] * beam
    for t in range(2):
        context, _, together = layer.attend(query[:, t], memory, together)
        for k in range(beam):
            expected = layer.attend(query[:, t, k], memory, alone[k])
            alone[k] = expected.state
            assert_close(context[:, k], expected.context)
            for s, e in zip(
                tree.flatten(together), tree.flatten(expected.state), strict=True
            ):
                assert s.dtype == e.dtype
                assert_close(s[:, k], e)


def assert_trains_in_a_decoder(make, cell=ks.layers.BahdanauCell, policy="float32"):
    """Outputs and gradients of a training step: eager = XLA, finite; the eager ones."""
    keras.config.set_dtype_policy(policy)
    inputs, value = sequences()
    decoder = built(ks.AttentionDecoder(cell(6, attention=make())), inputs, value)

    def training_step():
        with tf.GradientTape() as tape:
            outputs = decoder(
                inputs,
                value,
                value_mask=MASK,
                return_attention_scores=True,
                training=True,
            )
            loss = weighted_sum(outputs)
        return outputs, tape.gradient(
            loss, [w.value for w in decoder.trainable_weights]
        )

    names = [w.path for w in decoder.trainable_weights]
    eager, compiled = (
        (flat(outputs), dict(zip(names, flat(found), strict=True)))
        for outputs, found in (
            training_step(),
            tf.function(training_step, jit_compile=True)(),
        )
    )
    tolerance = 1e-4 if policy == "float32" else 2e-2
    same(eager[0], compiled[0], tolerance, "XLA")
    same_gradients(eager[1], compiled[1], 5 * tolerance, "XLA")
    assert all(np.isfinite(g).all() for g in eager[1].values())
    return eager


def message(function, *args, **kwargs):
    """The text of the ValueError that a call raises."""
    try:
        function(*args, **kwargs)
    except ValueError as error:
        return str(error)
    raise AssertionError("nothing was raised")
