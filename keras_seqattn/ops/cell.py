"""One step of a recurrent cell, given the sum of all products with its inputs.

`projected` is `W x + b` plus the products with all other inputs of the cell (in the
paper `W e + C c`), `state` is the state of the step before, and `recurrent` is its
product with the recurrent kernel. Order and layout of the gates are those of Keras, so
that weights can be copied.

Every function returns the output and the new state in Keras's structure.
"""

from keras import ops

from keras_seqattn.ops.precision import at_least_float32


def simple_step(projected, state, recurrent, activation=ops.tanh):
    """Elman 1990: `h = tanh(W x + U h' + b)`."""
    h = activation(projected + recurrent)
    return h, h


def gru_step(projected, state, recurrent, activation=ops.tanh):
    """The GRU of Keras and cuDNN: the reset gate acts after the recurrent product.

    `z` is the share of the old state, i.e. the `1 - z` of Bahdanau et al.

    Args:
        projected: `[batch, ..., 3 * units]`, blocks z, r, h.
        state: `[batch, ..., units]`.
        recurrent: `U h + b` of the state, `[batch, ..., 3 * units]`; its bias belongs
            inside the reset.
    """
    x_z, x_r, x_h = ops.split(projected, 3, axis=-1)
    u_z, u_r, u_h = ops.split(recurrent, 3, axis=-1)
    z = ops.sigmoid(x_z + u_z)
    r = ops.sigmoid(x_r + u_r)
    candidate = activation(x_h + r * u_h)
    h = z * state + (1.0 - z) * candidate
    return h, h


def gru_paper_step(projected, state, gates, proposal, activation=ops.tanh):
    """The GRU of Bahdanau et al. 2015, A.1.1: the reset gate acts before the product.

    Equations:
        z_i = sigmoid(W_z e(y_{i-1}) + U_z s_{i-1} + C_z c_i)  Bahdanau (A.1.1: z_i)
        r_i = sigmoid(W_r e(y_{i-1}) + U_r s_{i-1} + C_r c_i)  Bahdanau (A.1.1: r_i)
        s~_i = tanh(W e(y_{i-1}) + U [r_i * s_{i-1}] + C c_i)  Bahdanau (A.1.1: s~_i)
        s_i = (1 - z_i) * s_{i-1} + z_i * s~_i  Bahdanau (A.1.1: s_i)

    Args:
        projected: `[batch, ..., 3 * units]`, blocks z, r, s~: `W e + C c`.
        state: `[batch, ..., units]`, s_{i-1}.
        gates: `[batch, ..., 2 * units]`, U_z s_{i-1} and U_r s_{i-1}.
        proposal: function that multiplies by U, `[batch, ..., units]`.
    """
    z, proposed = _reset_before(projected, state, gates, proposal, activation)
    s = (1.0 - z) * state + z * proposed  # Bahdanau (A.1.1: s_i)
    return s, s


def gru_reset_before_step(projected, state, gates, proposal, activation=ops.tanh):
    """Keras's `reset_after=False`: `gru_paper_step` with z and 1 - z exchanged."""
    z, proposed = _reset_before(projected, state, gates, proposal, activation)
    h = z * state + (1.0 - z) * proposed
    return h, h


def _reset_before(projected, state, gates, proposal, activation):
    """Return z and s~_i. In the paper z is the share of s~_i, in Keras of s_{i-1}."""
    x_z, x_r, x_s = ops.split(projected, 3, axis=-1)
    u_z, u_r = ops.split(gates, 2, axis=-1)
    z = ops.sigmoid(x_z + u_z)  # Bahdanau (A.1.1: z_i)
    r = ops.sigmoid(x_r + u_r)  # Bahdanau (A.1.1: r_i)
    proposed = activation(x_s + proposal(r * state))  # Bahdanau (A.1.1: s~_i)
    return z, proposed


def lstm_step(projected, state, recurrent, activation=ops.tanh):
    """Hochreiter & Schmidhuber 1997 with forget gates, as in Keras.

    Args:
        projected: `[batch, ..., 4 * units]`, gates i, f, c, o.
        state: `[h, c]`, both `[batch, ..., units]`.
        recurrent: `U h`, `[batch, ..., 4 * units]`.
    """
    _, c = state
    i, f, g, o = ops.split(projected + recurrent, 4, axis=-1)
    c = ops.sigmoid(f) * c + ops.sigmoid(i) * activation(g)
    h = ops.sigmoid(o) * activation(c)
    return h, [h, c]


def normalize_gates(x, gain, bias, gates=1, epsilon=1e-5):
    """Layer normalisation, with statistics for each gate.

    Ba et al. 2016, 4, with one mean and variance for each gate as in Chen et al. 2018.
    It computes in float32 at least: half precision is not enough for a variance.

    Args:
        x: `[batch, ..., gates * units]`.
        gain: `[gates * units]`.
        bias: `[gates * units]`.
        gates: number of blocks on the last axis.
        epsilon: added to the variance.

    Returns:
        `[batch, ..., gates * units]`, of the dtype of `x`.
    """
    shape = ops.shape(x)
    a = ops.reshape(at_least_float32(x), (*shape[:-1], gates, shape[-1] // gates))
    deviation = a - ops.mean(a, axis=-1, keepdims=True)
    variance = ops.mean(ops.square(deviation), axis=-1, keepdims=True)
    normal = ops.reshape(deviation * ops.rsqrt(variance + epsilon), shape)
    return ops.cast(gain * normal + bias, x.dtype)


def layer_norm_gru_step(projected, state, recurrent, activation=ops.tanh):
    """The GRU whose products are normalised (Ba et al. 2016), reset after the product.

    Args:
        projected: `LN(W x)`, `[batch, ..., 3 * units]`, gates z, r, h; the sum of all
            inputs, each normalised by itself.
        state: `[batch, ..., units]`.
        recurrent: `LN(U h)` of the state.
    """
    return gru_step(projected, state, recurrent, activation)


def layer_norm_lstm_step(projected, state, recurrent, normalize, activation=ops.tanh):
    """The LSTM whose products are normalised, and whose c is normalised for the output.

    Args:
        projected: `LN(W x)`, `[batch, ..., 4 * units]`, gates i, f, c, o; the sum of
            all inputs, each normalised by itself.
        state: `[h, c]`, both `[batch, ..., units]`.
        recurrent: `LN(U h)` of the state.
        normalize: function, `LN(c)`; the new state has c itself.
    """
    _, c = state
    i, f, g, o = ops.split(projected + recurrent, 4, axis=-1)
    c = ops.sigmoid(f) * c + ops.sigmoid(i) * activation(g)
    h = ops.sigmoid(o) * activation(normalize(c))
    return h, [h, c]
