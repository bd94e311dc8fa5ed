"""The loop of the tutorials: Python calls a Keras model once per target word, eagerly.

As there, the attention is a layer that projects query and values whenever it is called,
the recurrence a `keras.layers.GRU` over a sequence of length one, and tokens and
alignments are collected in lists until every sentence has ended.
"""

import keras
import tensorflow as tf
from keras import layers, ops

from benchmarks import searching
from benchmarks.rivals.keras_encoder import keras_encoder

PAD, START, END = 0, 1, 2


class AdditiveAttention(layers.Layer):
    """Context and alignment for a query `[batch, units]`."""

    def __init__(self, units):
        super().__init__()
        self.query = layers.Dense(units, use_bias=False)
        self.key = layers.Dense(units, use_bias=False)
        self.score = layers.Dense(1, use_bias=False)

    def call(self, query, values):
        hidden = ops.tanh(self.query(query)[:, None] + self.key(values))
        alignment = ops.softmax(self.score(hidden), axis=1)
        return ops.sum(alignment * values, axis=1), alignment[..., 0]


class Decoder(keras.Model):
    """One target step: logits, state and alignment after the last tokens."""

    def __init__(self, vocabulary, depth, units):
        super().__init__()
        self.embedding = layers.Embedding(vocabulary, depth)
        self.attention = AdditiveAttention(units)
        self.gru = layers.GRU(units, return_state=True)
        self.hidden = layers.Dense(units, activation="tanh")
        self.logits = layers.Dense(vocabulary)

    def call(self, token, state, values):
        context, alignment = self.attention(state, values)
        x = ops.concatenate([self.embedding(token), context], axis=-1)
        output, state = self.gru(x[:, None], initial_state=state)
        read = self.hidden(ops.concatenate([output, context], axis=-1))
        return self.logits(read), state, alignment


class EagerLoop:
    """`encoder`: source ids -> values, first state; `weights` by their names."""

    def __init__(self, encoder, weights):
        self.encoder = encoder
        self.decoder = Decoder(
            *weights["target_embedding"].shape, weights["bridge.bias"].shape[0]
        )
        self.greedy(tf.zeros([1, 1], tf.int32), length=1)  # makes the variables
        for layer, names in (
            (self.decoder.embedding, ["target_embedding"]),
            (self.decoder.attention.query, ["query.kernel"]),
            (self.decoder.attention.key, ["key.kernel"]),
            (self.decoder.attention.score, ["score.kernel"]),
            (self.decoder.gru, [f"decoder.{x}" for x in _GRU]),
            (self.decoder.hidden, ["hidden.kernel", "hidden.bias"]),
            (self.decoder.logits, ["logits.kernel", "logits.bias"]),
        ):
            layer.set_weights([weights[name] for name in names])

    def greedy(self, source, length):
        values, state = self.encoder(source)
        token = tf.fill([source.shape[0]], START)
        ended, tokens, alignments = tf.zeros_like(token, tf.bool), [], []
        for _ in range(length):
            logits, state, alignment = self.decoder(token, state, values)
            token = tf.argmax(logits, axis=-1, output_type=tf.int32)
            token = tf.where(ended, PAD, token)
            tokens.append(token)
            alignments.append(alignment)
            ended = ended | (token == END)
            if tf.reduce_all(ended):
                break
        return tf.stack(tokens, axis=1), tf.stack(alignments, axis=1)


_GRU = ("kernel", "recurrent_kernel", "bias")


def search(size):
    """Return a contender: greedy search."""
    weights, source = searching.weights(size), tf.constant(searching.source(size))
    loop = EagerLoop(keras_encoder(weights), weights)
    return searching.contender(lambda: loop.greedy(source, size.target)[:1], size)
