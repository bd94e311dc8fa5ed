"""Strings to strings with a plain `tf.while_loop`, as a careful person writes it.

tensorflow-text reads and writes the strings, an encoder reads the padded batch, all in
one `tf.function`: the keys are computed once, a hypothesis that has ended continues
with padding, and the loop ends when all have. For the beam the memory is tiled, and the
best of beam * vocabulary candidates continue, as is usual. It has only the mask of the
source, and no alignments.
"""

import tensorflow as tf
import tensorflow_text as tf_text

PAD, START, END = 0, 1, 2


class PlainTranslator(tf.Module):
    """`caglayan2017`: a conditional GRU between encoder and tied embeddings.

    Args:
        encoder: source ids -> values, mask, first state.
        weights: arrays by their names.
        subwords: the bytes of a SentencePiece model.
        limit: a and b of a translation's greatest length, a * source + b.
    """

    def __init__(self, encoder, weights, subwords, limit):
        super().__init__()
        self.encoder, self.limit = encoder, limit
        self.w = {name: tf.Variable(value) for name, value in weights.items()}
        self.text = tf_text.SentencepieceTokenizer(subwords, tf.int32, add_eos=True)

    def start(self, texts):
        ids = self.text.tokenize(texts)
        times, plus = self.limit
        limits = times * tf.cast(ids.row_lengths(), tf.int32) + plus
        values, mask, state = self.encoder(ids.to_tensor(PAD))
        return limits, state, (values, values @ self.w["key.kernel"], mask)

    def gru(self, name, x, state):
        w = self.w
        x = x @ w[f"{name}.kernel"] + w[f"{name}.bias"][0]
        h = state @ w[f"{name}.recurrent_kernel"] + w[f"{name}.bias"][1]
        (xz, xr, xn), (hz, hr, hn) = tf.split(x, 3, -1), tf.split(h, 3, -1)
        z, r = tf.sigmoid(xz + hz), tf.sigmoid(xr + hr)
        return z * state + (1 - z) * tf.tanh(xn + r * hn)

    def step(self, token, state, values, keys, mask):
        w = self.w
        embedded = tf.gather(w["target_embedding"], token)
        between = self.gru("first", embedded, state)
        hidden = tf.tanh((between @ w["query.kernel"])[:, None] + keys)
        scores = tf.tensordot(hidden, w["score.kernel"], 1)[..., 0]
        alignment = tf.nn.softmax(tf.where(mask, scores, -1e9))
        context = tf.matmul(alignment[:, None], values)[:, 0]
        state = self.gru("second", context, between)
        read = tf.concat([state, context, embedded], axis=-1)
        read = tf.tanh(read @ w["hidden.kernel"] + w["hidden.bias"])
        logits = tf.matmul(read, w["target_embedding"], transpose_b=True)
        return logits + w["logits.bias"], state

    def write(self, tokens):
        return self.text.detokenize(tf.ragged.boolean_mask(tokens, tokens > END))

    @tf.function(reduce_retracing=True)
    def greedy(self, texts, scored=False):
        limits, state, memory = self.start(texts)
        batch, length = tf.shape(texts)[0], tf.reduce_max(limits)

        def body(i, token, state, ended, scores, tokens):
            logits, state = self.step(token, state, *memory)
            token = tf.argmax(logits, axis=-1, output_type=tf.int32)
            if scored:
                gained = tf.gather(tf.nn.log_softmax(logits), token, batch_dims=1)
                scores += tf.where(ended, 0.0, gained)
            token = tf.where(ended, PAD, token)
            ended |= (token == END) | (i + 1 >= limits)
            return i + 1, token, state, ended, scores, tokens.write(i, token)

        *_, scores, tokens = tf.while_loop(
            lambda i, token, state, ended, scores, tokens: not tf.reduce_all(ended),
            body,
            (0, tf.fill([batch], START), state, tf.fill([batch], False))
            + (tf.zeros([batch]), tf.TensorArray(tf.int32, length)),
        )
        return self.write(tf.transpose(tokens.stack())), scores

    @tf.function(reduce_retracing=True)
    def beam(self, texts, k, alpha):
        limits, state, memory = self.start(texts)
        memory, state = tf.nest.map_structure(
            lambda x: tf.repeat(x, k, axis=0), (memory, state)
        )
        batch, vocabulary = tf.shape(texts)[0], self.w["logits.bias"].shape[0]
        first_row = tf.range(batch)[:, None] * k  # of every sentence, in the flat beam
        only_pad = tf.one_hot(PAD, vocabulary, 0.0, -1e9)

        def body(i, token, state, scores, lengths, ended, tokens):
            logits, state = self.step(tf.reshape(token, [-1]), state, *memory)
            gained = tf.reshape(tf.nn.log_softmax(logits), [batch, k, vocabulary])
            gained = tf.where(ended[..., None], only_pad, gained)
            totals = tf.reshape(scores[..., None] + gained, [batch, k * vocabulary])
            lengths += tf.cast(~ended, tf.float32)
            penalty = tf.repeat(((5 + lengths) / 6) ** alpha, vocabulary, axis=1)
            _, best = tf.math.top_k(totals / penalty, k)
            scores = tf.gather(totals, best, batch_dims=1)
            beam, token = best // vocabulary, best % vocabulary
            state = tf.gather(state, tf.reshape(first_row + beam, [-1]))
            lengths = tf.gather(lengths, beam, batch_dims=1)
            ended = tf.gather(ended, beam, batch_dims=1) | (token == END)
            ended |= (i + 1 >= limits)[:, None]
            tokens = tf.gather(tokens, beam, batch_dims=1)
            tokens = tf.concat([tokens, token[..., None]], axis=-1)
            return i + 1, token, state, scores, lengths, ended, tokens

        scores = tf.tile([[0.0] + [-1e9] * (k - 1)], [batch, 1])  # all start the same
        start = tf.fill([batch, k], START)
        *_, scores, _, _, tokens = tf.while_loop(
            lambda i, token, state, scores, n, ended, tokens: not tf.reduce_all(ended),
            body,
            (0, start, state, scores, tf.zeros([batch, k]), tf.fill([batch, k], False))
            + (start[..., None],),
            shape_invariants=_shapes(state, k),
        )
        return self.write(tokens[:, 0, 1:]), scores[:, 0]


def _shapes(state, k):
    beam, rows = tf.TensorShape([None, k]), tf.TensorShape([None, state.shape[1]])
    tokens = tf.TensorShape([None, k, None])
    return tf.TensorShape([]), beam, rows, beam, beam, beam, tokens
