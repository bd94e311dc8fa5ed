"""One step of each recurrent cell: x [batch, inputs], state -> next state.

Layouts are Keras's: kernel [inputs, gates * units], recurrent_kernel
[units, gates * units]. A state is an array [batch, units], for the LSTM a list
[h, c]. The bias is left out where it is None.
"""

import numpy as np

from .alignment import sigmoid


def output_of(state):
    """What a cell shows to the outside: h."""
    return state[0] if isinstance(state, (list, tuple)) else state


def columns(array, gates):
    """The gates' blocks of columns; zeros for an absent bias."""
    return [0.0] * gates if array is None else np.split(array, gates, axis=-1)


def simple(x, h, *, kernel, recurrent_kernel, bias=None):
    """Elman: h_t = tanh(W x_t + U h_{t-1} + b)."""
    b = 0.0 if bias is None else bias
    return np.tanh(x @ kernel + h @ recurrent_kernel + b)


def reset_before(x, s, kernel, recurrent_kernel, bias):
    """z_i and s~_i: the reset gate comes before the product."""
    W_z, W_r, W = columns(kernel, 3)
    U_z, U_r, U = columns(recurrent_kernel, 3)
    b_z, b_r, b = columns(bias, 3)
    z = sigmoid(x @ W_z + s @ U_z + b_z)
    r = sigmoid(x @ W_r + s @ U_r + b_r)
    return z, np.tanh(x @ W + (r * s) @ U + b)


def gru_paper(x, s, *, kernel, recurrent_kernel, bias=None):
    """Bahdanau et al. 2015, section A.1.1, reset before the product.

    z_i = sigmoid(W_z x_i + U_z s_{i-1});  r_i = sigmoid(W_r x_i + U_r s_{i-1})
    s~_i = tanh(W x_i + U [r_i * s_{i-1}])
    s_i = (1 - z_i) * s_{i-1} + z_i * s~_i
    Here z = 1 takes the candidate; in Keras z = 1 keeps the state. x_i is [e(y); c].
    Columns z, r, candidate.
    """
    z, candidate = reset_before(x, s, kernel, recurrent_kernel, bias)
    return (1.0 - z) * s + z * candidate  # (A.1.1)


def gru_reset_before(x, h, *, kernel, recurrent_kernel, bias=None):
    """Cho et al. 2014, eqs. (5)-(8): Keras's GRU with reset_after=False.

    The same as `gru_paper` but for h = z * h_{t-1} + (1 - z) * h~. Columns z, r, h.
    """
    z, candidate = reset_before(x, h, kernel, recurrent_kernel, bias)
    return z * h + (1.0 - z) * candidate  # (7)


def gru(x, h, *, kernel, recurrent_kernel, bias=None):
    """Keras's and cuDNN's GRU (reset_after=True): reset after the product.

    h~ = tanh(W x + b_h + r * (U h_{t-1} + d_h));  h = z * h_{t-1} + (1 - z) * h~
    Columns z, r, h; bias [2, 3 * units] holds b for the inputs, d for the state.
    """
    W_z, W_r, W = columns(kernel, 3)
    U_z, U_r, U = columns(recurrent_kernel, 3)
    b_z, b_r, b = columns(None if bias is None else bias[0], 3)
    d_z, d_r, d = columns(None if bias is None else bias[1], 3)
    z = sigmoid(x @ W_z + b_z + h @ U_z + d_z)
    r = sigmoid(x @ W_r + b_r + h @ U_r + d_r)
    candidate = np.tanh(x @ W + b + r * (h @ U + d))
    return z * h + (1.0 - z) * candidate


def layer_norm(a, gain, bias, gates, epsilon=1e-5):
    """Ba et al. 2016: LN(a) = g * (a - mean) / sqrt(variance + epsilon) + b.

    Row by row; each of the gates' blocks has a mean and a variance of its own.
    """
    rows = []
    for row in a:
        blocks = np.split(row, gates)
        normal = [(p - p.mean()) / (p.var() + epsilon) ** 0.5 for p in blocks]
        rows.append(np.concatenate(normal))
    return gain * np.array(rows) + bias


def normalized(x, products, gates):
    """The sum of LN(W x) over products (kernel, gain, bias), which share x's columns.

    A kernel takes as many columns of x as it has rows.
    """
    total, first = 0.0, 0
    for kernel, gain, bias in products:
        part = x[:, first : first + len(kernel)]
        total = total + layer_norm(part @ kernel, gain, bias, gates)
        first += len(kernel)
    return total


def layer_norm_gru(x, h, *, products, recurrent):
    """Normalised GRU: z, r = sigmoid(LN(W x) + LN(U h)), and with their own columns
    h~ = tanh(LN(W x) + r * LN(U h));  h = z * h_{t-1} + (1 - z) * h~

    products: [(kernel, gain, bias)] of the inputs, recurrent: that of the state.
    Columns z, r, h.
    """
    x_z, x_r, x_h = np.split(normalized(x, products, 3), 3, axis=-1)
    u_z, u_r, u_h = np.split(normalized(h, [recurrent], 3), 3, axis=-1)
    z, r = sigmoid(x_z + u_z), sigmoid(x_r + u_r)
    return z * h + (1.0 - z) * np.tanh(x_h + r * u_h)


def layer_norm_lstm(x, state, *, products, recurrent, state_norm):
    """Ba et al. 2016, supplementary material, LN gate by gate.

    i, f, g, o = LN(W x) + LN(U h);  c_t = f * c_{t-1} + i * g
    h_t = o * tanh(LN(c_t)). Columns i, f, c, o; state_norm: (gain, bias) of c_t.
    """
    h, c = state
    sums = normalized(x, products, 4) + normalized(h, [recurrent], 4)
    i, f, g, o = np.split(sums, 4, axis=-1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return [sigmoid(o) * np.tanh(layer_norm(c, *state_norm, gates=1)), c]


def lstm(x, state, *, kernel, recurrent_kernel, bias=None):
    """LSTM with forget gate, without peepholes (Gers et al. 2000; no number).

    c_t = f * c_{t-1} + i * g;  h_t = o * tanh(c_t). Columns i, f, c, o (Keras).
    """
    h, c = state
    W_i, W_f, W_c, W_o = columns(kernel, 4)
    U_i, U_f, U_c, U_o = columns(recurrent_kernel, 4)
    b_i, b_f, b_c, b_o = columns(bias, 4)
    i = sigmoid(x @ W_i + h @ U_i + b_i)
    f = sigmoid(x @ W_f + h @ U_f + b_f)
    g = np.tanh(x @ W_c + h @ U_c + b_c)
    o = sigmoid(x @ W_o + h @ U_o + b_o)
    c = f * c + i * g
    return [o * np.tanh(c), c]
