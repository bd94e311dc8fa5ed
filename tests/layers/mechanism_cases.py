"""What the tests of the attention mechanisms share: all rows, with all options."""

import keras
import numpy as np

import keras_seqattn as ks
from keras_seqattn.testing.case import sample
from tests.contract.rows import ATTENTIONS

MECHANISMS = {str(row): row for row in ATTENTIONS}
MASK = np.array(
    [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]], bool
)


def additive(**options):
    return ks.BahdanauAttention(3, **options)


def made(name, **options):
    """The layer of a row; every part of it that has such an option has this value."""

    def changed(config):
        if isinstance(config, list):
            return [changed(part) for part in config]
        if not isinstance(config, dict):
            return config
        config = {name: changed(part) for name, part in config.items()}
        return config | {name: options[name] for name in options if name in config}

    config = keras.saving.serialize_keras_object(MECHANISMS[name].make())
    return keras.saving.deserialize_keras_object(changed(config))


def of_row(name, target=3):
    """Queries and values for the layer of a row: [4, target, ...] and [4, 5, ...]."""
    given = sample(MECHANISMS[name], source=5, target=target)
    return given["query"], given["value"]


def sequences(target=3):
    """Queries [4, target, 4] and values [4, 5, 6], float32."""
    return of_row("bahdanau", target)


def built(layer, query, value, scale=0.7, seed=1):
    """The layer with random weights, biases too: zeros would hide a mistake."""
    layer(query, value)
    random = np.random.default_rng(seed)
    for weight in layer.trainable_weights:
        weight.assign(scale * random.normal(size=weight.shape))
    return layer


def assert_close(received, expected, atol=2e-6):
    np.testing.assert_allclose(received, expected, rtol=0, atol=atol)


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
