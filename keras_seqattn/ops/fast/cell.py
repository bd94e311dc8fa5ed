"""Cells whose gradients are written by hand: fewer passes over the gates.

Each has the name, the parameters and the results of a function in `ops.cell`. In a fast
loop the backward pass reads the gates that the forward pass has kept.
"""

import tensorflow as tf

from keras_seqattn.ops.loop_ops import Fused, fused


def gru_step(projected, state, recurrent):
    """Keras's and cuDNN's GRU: see `ops.cell.gru_step`."""
    h = fused(_GRU, projected, recurrent, state)
    return h, h


def lstm_step(projected, state, recurrent):
    """See `ops.cell.lstm_step`."""
    h, c = fused(_LSTM, projected + recurrent, state[1])
    return h, [h, c]


def _gru(x, u, past):
    x_gates, x_h = _split(x, past)
    u_gates, u_h = _split(u, past)
    z, r = tf.split(tf.sigmoid(x_gates + u_gates), 2, axis=-1)
    candidate = tf.tanh(x_h + r * u_h)
    return candidate + z * (past - candidate), (z, r, candidate, u_h)


def _gradient_of_gru(tensors, kept, dh):
    """The gradients with respect to x, u and the past state."""
    (_, _, past), (z, r, candidate, u_h) = tensors, kept
    da = tf.raw_ops.TanhGrad(y=candidate, dy=dh - dh * z)
    dz = tf.raw_ops.SigmoidGrad(y=z, dy=dh * (past - candidate))
    dr = tf.raw_ops.SigmoidGrad(y=r, dy=da * u_h)
    return tf.concat([dz, dr, da], -1), tf.concat([dz, dr, da * r], -1), dh * z


def _split(x, past):
    """The two gates, and the rest."""
    units = past.shape[-1]
    return tf.split(x, [2 * units, units], axis=-1)


def _lstm(x, past):
    i, f, g, o = tf.split(x, 4, axis=-1)
    i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
    c = f * past + i * g
    squashed = tf.tanh(c)
    return (o * squashed, c), (i, f, g, o, squashed)


def _gradient_of_lstm(tensors, kept, dh, dc):
    """The gradients with respect to x and the past c."""
    (_, past), (i, f, g, o, squashed) = tensors, kept
    dc = dc + tf.raw_ops.TanhGrad(y=squashed, dy=dh * o)
    parts = [
        tf.raw_ops.SigmoidGrad(y=i, dy=dc * g),
        tf.raw_ops.SigmoidGrad(y=f, dy=dc * past),
        tf.raw_ops.TanhGrad(y=g, dy=dc * i),
        tf.raw_ops.SigmoidGrad(y=o, dy=dh * squashed),
    ]
    return tf.concat(parts, -1), dc * f


_GRU, _LSTM = Fused(_gru, _gradient_of_gru), Fused(_lstm, _gradient_of_lstm)
