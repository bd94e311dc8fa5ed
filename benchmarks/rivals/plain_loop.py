"""The same model with a plain `tf.while_loop`, as a careful person writes it.

Raw weights, everything in one `tf.function`: the keys are computed once, the GRU takes
`[x; c]` in one product, a hypothesis that has ended continues with padding. For the
beam the memory is tiled, and the best of beam * vocabulary candidates continue, as is
usual. It has no masks, alignments or length penalties.
"""

import tensorflow as tf

from benchmarks import searching
from benchmarks.rivals.keras_encoder import keras_encoder

PAD, START, END = 0, 1, 2


class PlainLoop(tf.Module):
    """`encoder`: source ids -> values, first state; `weights` by their names."""

    def __init__(self, encoder, weights):
        super().__init__()
        self.encoder = encoder
        self.w = {name: tf.Variable(value) for name, value in weights.items()}

    def step(self, token, state, values, keys):
        w = self.w
        query = state @ w["query.kernel"]
        hidden = tf.tanh(query[:, None] + keys)
        alignment = tf.nn.softmax(tf.tensordot(hidden, w["score.kernel"], 1), axis=1)
        context = tf.matmul(alignment, values, transpose_a=True)[:, 0]
        x = tf.concat([tf.gather(w["target_embedding"], token), context], axis=-1)
        x = x @ w["decoder.kernel"] + w["decoder.bias"][0]
        h = state @ w["decoder.recurrent_kernel"] + w["decoder.bias"][1]
        (xz, xr, xn), (hz, hr, hn) = tf.split(x, 3, -1), tf.split(h, 3, -1)
        z, r = tf.sigmoid(xz + hz), tf.sigmoid(xr + hr)
        state = z * state + (1 - z) * tf.tanh(xn + r * hn)
        read = tf.concat([state, context], axis=-1)
        read = tf.tanh(read @ w["hidden.kernel"] + w["hidden.bias"])
        return read @ w["logits.kernel"] + w["logits.bias"], state

    @tf.function(reduce_retracing=True)
    def greedy(self, source, length, scored=False):
        values, state = self.encoder(source)
        keys = values @ self.w["key.kernel"]
        batch = tf.shape(source)[0]

        def body(i, token, state, ended, scores, tokens):
            logits, state = self.step(token, state, values, keys)
            token = tf.argmax(logits, axis=-1, output_type=tf.int32)
            if scored:
                gained = tf.nn.sparse_softmax_cross_entropy_with_logits(token, logits)
                scores -= tf.where(ended, 0.0, gained)
            token = tf.where(ended, PAD, token)
            ended |= token == END
            return i + 1, token, state, ended, scores, tokens.write(i, token)

        *_, scores, tokens = tf.while_loop(
            lambda i, token, state, ended, scores, tokens: not tf.reduce_all(ended),
            body,
            (0, tf.fill([batch], START), state, tf.fill([batch], False))
            + (tf.zeros([batch]), tf.TensorArray(tf.int32, length)),
            maximum_iterations=length,
        )
        return tf.transpose(tokens.stack()), scores

    @tf.function(reduce_retracing=True)
    def beam(self, source, length, k):
        values, state = self.encoder(source)
        keys = values @ self.w["key.kernel"]
        values, keys, state = (tf.repeat(x, k, axis=0) for x in (values, keys, state))
        batch, vocabulary = tf.shape(source)[0], self.w["logits.bias"].shape[0]
        first_row = tf.range(batch)[:, None] * k  # of every sentence, in the flat beam
        only_pad = tf.one_hot(PAD, vocabulary, 0.0, -1e9)

        def body(i, token, state, scores, ended, tokens):
            logits, state = self.step(tf.reshape(token, [-1]), state, values, keys)
            gained = tf.reshape(tf.nn.log_softmax(logits), [batch, k, vocabulary])
            gained = tf.where(ended[..., None], only_pad, gained)
            flat = tf.reshape(scores[..., None] + gained, [batch, k * vocabulary])
            scores, best = tf.math.top_k(flat, k)
            beam, token = best // vocabulary, best % vocabulary
            state = tf.gather(state, tf.reshape(first_row + beam, [-1]))
            ended = tf.gather(ended, beam, batch_dims=1) | (token == END)
            tokens = tf.gather(tokens, beam, batch_dims=1)
            tokens = tf.concat([tokens, token[..., None]], axis=-1)
            return i + 1, token, state, scores, ended, tokens

        scores = tf.tile([[0.0] + [-1e9] * (k - 1)], [batch, 1])  # all start the same
        start = tf.fill([batch, k], START)
        *_, scores, _, tokens = tf.while_loop(
            lambda i, token, state, scores, ended, tokens: not tf.reduce_all(ended),
            body,
            (0, start, state, scores, tf.fill([batch, k], False), start[..., None]),
            shape_invariants=_shapes(state, k),
            maximum_iterations=length,
        )
        return tokens[..., 1:], scores


def _shapes(state, k):
    beam, rows = tf.TensorShape([None, k]), tf.TensorShape([None, state.shape[1]])
    tokens = tf.TensorShape([None, k, None])
    return tf.TensorShape([]), beam, rows, beam, beam, tokens


def search(size, width=None, scored=False):
    """Return a contender; if `scored`, greedy search computes scores, too."""
    weights, source = searching.weights(size), tf.constant(searching.source(size))
    loop = PlainLoop(keras_encoder(weights), weights)

    def decode():
        if width is None:
            return loop.greedy(source, size.target, scored)[:1]
        return loop.beam(source, size.target, width)

    return searching.contender(decode, size)
