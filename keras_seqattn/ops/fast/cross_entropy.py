"""Cross-entropy from the factors of the logits, which exist some rows at a time."""

import functools

import tensorflow as tf

from keras_seqattn.ops.fast.call_context import under_xla
from keras_seqattn.ops.mask import zero_padding
from keras_seqattn.types import TokenLosses

ROWS = 512  # of a chunk: with fewer chunks, the sum for dW costs less

_ONCE = (
    "The loss has first derivatives only. Expected a gradient, received the gradient "
    "of one. Train with SmoothedCrossentropy, whose derivatives are TensorFlow's."
)


def output_cross_entropy(readout, labels, mask=None, weights=None, smoothing=0.0):
    """Cross-entropy of the real tokens; the gradient is computed with the loss.

        z = h W + b
        loss = sum{w_i (- sum{q_iv log softmax(z_i)_v : v}) : i}
        dz_i = softmax(z_i) - q_i
        dh_i = w_i dz_i W'
        dW = sum{w_i h_i' dz_i : i}
        db = sum{w_i dz_i : i}

    It computes one chunk of rows i after the other. The loss is a sum, so its upstream
    gradient is one number, and multiplies the gradients later. Outside of training,
    gradients are computed only if a tape asks for them.

    Args:
        readout: `Readout` of `[batch, target]` tokens.
        labels: token ids `[batch, target]`.
        mask: `[batch, target]`, True = real; None: everything is real.
        weights: w, `[batch, target]`; None: ones.
        smoothing: eps of q, see `ops.cross_entropy.cross_entropy`.

    Returns:
        `TokenLosses`; only `total` has a gradient.
    """
    shape = tf.shape(labels)
    mask = tf.ones(shape, "bool") if mask is None else tf.cast(mask, "bool")
    chunks = TokenChunks(mask, ROWS)
    exact = tf.float64 if readout.hidden.dtype == tf.float64 else tf.float32
    weights = tf.ones(shape, exact) if weights is None else tf.cast(weights, exact)
    w = chunks.split(weights)
    y = chunks.split(tf.cast(labels, "int32"))

    @tf.custom_gradient
    def losses(hidden, *kernel_and_bias):
        rows = chunks.split(hidden)
        weights = [tf.cast(weight, hidden.dtype) for weight in kernel_and_bias]
        run = functools.partial(
            _run, chunks, rows, y, w, weights, readout.transposed, smoothing
        )
        per_row, early = run(readout.training)
        loss, surprise, correct = tf.unstack(per_row, axis=1)
        surprise, correct = chunks.put_back(surprise), chunks.put_back(correct)

        def gradient(upstream, *_):
            dh, *others = early or run(True)[1]
            dh = tf.cast(dh, exact) * (w * upstream)[..., None]
            gradients = [chunks.put_back(dh), *[upstream * x for x in others]]
            return [
                tf.raw_ops.PreventGradient(input=tf.cast(x, of.dtype), message=_ONCE)
                for x, of in zip(gradients, (hidden, *kernel_and_bias), strict=True)
            ]

        return (tf.reduce_sum(w * loss), surprise, correct > 0), gradient

    weights = [x for x in (readout.kernel, readout.bias) if x is not None]
    factors = [tf.convert_to_tensor(x) for x in (readout.hidden, *weights)]
    total, surprise, correct = losses(*factors)
    return TokenLosses(total, surprise, correct)


def _run(chunks, h, y, w, weights, transposed, smoothing, with_gradient):
    """Compute losses and gradients of all chunks.

    Returns:
        loss, surprise and correct `[count, 3, rows]`; `(dh_i / w_i, dW, db)`, or ().
    """
    kernel, exact = weights[0], w.dtype

    def body(i, per_row, gradients):
        z = tf.matmul(h[i], kernel, transpose_b=transposed)
        if weights[1:]:
            z = tf.nn.bias_add(z, weights[1])
        results, p = _losses(tf.cast(z, exact), y[i], smoothing)
        per_row = per_row.write(i, tf.stack(results))
        if with_gradient:
            dz = _minus_q(p, y[i], smoothing)
            gradients = _add(gradients, i, h[i], w[i], kernel, dz, transposed)
        return i + 1, per_row, gradients

    gradients = ()
    if with_gradient:
        dh = tf.TensorArray(h.dtype, chunks.count, element_shape=[None, h.shape[-1]])
        gradients = (dh, *[tf.zeros(x.shape, exact) for x in weights])
    per_row = tf.TensorArray(exact, chunks.count, element_shape=[3, None])
    _, per_row, gradients = tf.while_loop(
        lambda i, *_: i < chunks.used,
        body,
        (0, per_row, gradients),
        parallel_iterations=1,  # one chunk in memory
    )
    if with_gradient:
        gradients = (gradients[0].stack(), *gradients[1:])
    return per_row.stack(), gradients


def _losses(z, labels, smoothing):
    """Loss, surprise and whether the label is the best token, per row; softmax(z)."""
    best = tf.argmax(z, axis=-1, output_type=tf.int32)
    p, of_label, of_best = tf.nn.softmax(z), _at(z, labels), _at(z, best)
    # log sum exp from the largest one saves a pass over the vocabulary.
    surprise = (of_best - of_label) - tf.math.log(_at(p, best))
    loss = surprise
    if smoothing:
        loss = surprise + smoothing * (of_label - tf.reduce_mean(z, axis=-1))
    return (loss, surprise, tf.cast(best == labels, z.dtype)), p


def _minus_q(p, labels, smoothing):
    """Return dz = p - q."""
    if smoothing:
        p = p - smoothing / p.shape[-1]
    of_label = tf.fill(tf.shape(labels), tf.constant(1.0 - smoothing, p.dtype))
    return tf.tensor_scatter_nd_sub(p, _places(labels), of_label)


def _at(x, labels):
    return tf.gather_nd(x, _places(labels))


def _places(labels):
    return tf.stack([tf.range(tf.shape(labels)[0]), labels], axis=1)


def _add(gradients, i, h, w, kernel, dz, transposed):
    """Add the gradients of a chunk."""
    dhs, dkernel, *dbias = gradients
    if dbias:
        dbias = [dbias[0] + tf.matmul(w[None], dz)[0]]
    dz = tf.cast(dz, h.dtype)
    dhs = dhs.write(i, tf.matmul(dz, kernel, transpose_b=not transposed))
    weighted = h * tf.cast(w, h.dtype)[:, None]
    pair = (dz, weighted) if transposed else (weighted, dz)
    product = tf.matmul(*pair, transpose_a=True)
    return (dhs, dkernel + tf.cast(product, dkernel.dtype), *dbias)


class TokenChunks:
    """Takes the tokens out of a padded batch, and puts their results back.

    In a graph the padding is left out. XLA needs static sizes: there the padding comes
    last, and only the chunks that begin before it are `used`.

    Args:
        mask: bool `[batch, target]`, True = real.
        rows: the largest size of a chunk.
    """

    def __init__(self, mask, rows):
        self.mask, flat = mask, tf.reshape(mask, [-1])
        real = tf.reduce_sum(tf.cast(flat, "int32"))
        if under_xla():
            padded = tf.cast(tf.logical_not(flat), "int32")
            self.places, self.taken = tf.argsort(padded, stable=True), tf.size(flat)
        else:
            self.places, self.taken = tf.cast(tf.where(flat)[:, 0], "int32"), real
        self.count = tf.maximum(_ceil(self.taken, rows), 1)
        self.rows = tf.maximum(_ceil(self.taken, self.count), 1)
        self.used = tf.maximum(_ceil(real, self.rows), 1)

    def split(self, x):
        """Return the tokens of `[batch, target, ...]` as `[count, rows, ...]`.

        Zeros are in the place of padding, and fill the last chunk.
        """
        depth = x.shape[2:]
        x = tf.reshape(zero_padding(x, self.mask), [-1, *depth])
        missing = self.count * self.rows - self.taken
        x = tf.pad(tf.gather(x, self.places), [[0, missing], *[[0, 0]] * len(depth)])
        return tf.reshape(x, [self.count, self.rows, *depth])

    def put_back(self, x):
        """Undo `split`: to `[batch, target, ...]`, with zeros in the padding."""
        depth = x.shape[2:]
        x = tf.reshape(x, [self.count * self.rows, *depth])[: self.taken]
        size = tf.size(self.mask)
        x = tf.scatter_nd(self.places[:, None], x, [size, *depth])
        shape = tf.concat([tf.shape(self.mask), depth], axis=0)
        return zero_padding(tf.reshape(x, shape), self.mask)


def _ceil(x, y):
    return (x + y - 1) // y
