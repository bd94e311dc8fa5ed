"""Stock recurrent layers whose input products are computed before the loop.

Keras's loop multiplies `W x_t` step by step. If cuDNN does not run the layer, `run`
computes the same with one product for all steps, from the weights of the stock layer.
"""

import keras
from keras import ops, tree

from keras_seqattn.layers.layer_norm_cells import LayerNormGRUCell, LayerNormLSTMCell
from keras_seqattn.ops import cell as equations
from keras_seqattn.ops.dispatch import cell_step, unroll
from keras_seqattn.ops.loop_ops import multiply


def supports(layer, training):
    """Return None, or the reason why Keras must run the layer."""
    cell = layer.cell
    name = type(cell).__name__
    if type(cell) not in _SPLIT:
        return f"{name} may do anything"
    if type(cell) in _STOCK and not _is_plain(cell):
        return f"this {name} has other activations, or no bias"
    if not layer.built:
        return "it has no weights yet"
    if training and (cell.dropout or cell.recurrent_dropout):
        return "Keras draws the masks of its dropout"
    if getattr(layer, "use_cudnn", False) and keras.distribution.list_devices("gpu"):
        return "cuDNN may run it"
    return None


def run(
    layer,
    inputs,
    sizes,
    mask=None,
    training=None,
    owner="encoder",
    implementation="auto",
):
    """Compute what the layer returns: its sequence and its state.

    Args:
        layer: a recurrent layer for which `supports` returns None.
        inputs: `[batch, source, depth]`.
        sizes: of its state, an integer or nested lists.
        mask: `[batch, source]`, or None.
        training: whether it trains.
        owner: name of the encoder, for errors.
        implementation: of the loop, "auto" or "fast".

    Returns:
        Values `[batch, source, units]`, in the order in which the layer reads, zero in
        the padding; and the last state, in the structure of the cell.
    """
    if layer.go_backwards:
        inputs = ops.flip(inputs, axis=1)
        mask = None if mask is None else ops.flip(mask, axis=1)
    project, step = _SPLIT[type(layer.cell)](layer.cell)
    start = tree.map_structure(
        lambda size: ops.zeros((ops.shape(inputs)[0], size), layer.compute_dtype),
        sizes,
    )
    return unroll(
        owner, implementation, training, step, inputs, start, mask=mask, project=project
    )


def _simple(cell):
    project = _product(cell.kernel, cell.bias)
    recurrent = _product(cell.recurrent_kernel)
    return project, lambda x, h: equations.simple_step(x, h, recurrent)


def _gru(cell):
    if cell.reset_after:
        project = _product(cell.kernel, cell.bias[0])
        recurrent = _product(cell.recurrent_kernel, cell.bias[1])
        return project, lambda x, h: cell_step("gru")(x, h, recurrent)
    gates = _product(cell.recurrent_kernel[:, : 2 * cell.units])
    proposal = _product(cell.recurrent_kernel[:, 2 * cell.units :])
    return _product(
        cell.kernel, cell.bias
    ), lambda x, h: equations.gru_reset_before_step(x, h, gates, proposal)


def _lstm(cell):
    project = _product(cell.kernel, cell.bias)
    recurrent = _product(cell.recurrent_kernel)
    return project, lambda x, state: cell_step("lstm")(x, state, recurrent)


def _layer_norm_gru(cell):
    project, recurrent = _normalized(cell)
    return project, lambda x, h: equations.layer_norm_gru_step(x, h, recurrent)


def _layer_norm_lstm(cell):
    project, recurrent = _normalized(cell)
    return project, lambda x, state: equations.layer_norm_lstm_step(
        x, state, recurrent, cell.state_norm
    )


def _normalized(cell):
    project, recurrent = _product(cell.kernel), _product(cell.recurrent_kernel)
    return (
        lambda x: cell.input_norm(project(x)),
        lambda h: cell.recurrent_norm(recurrent(h)),
    )


def _product(kernel, bias=None):
    return lambda x: multiply(x, kernel, x.dtype, bias)


def _is_plain(cell):
    sigmoid = getattr(cell, "recurrent_activation", keras.activations.sigmoid)
    plain = cell.activation is keras.activations.tanh
    return plain and sigmoid is keras.activations.sigmoid and cell.use_bias


_STOCK = {
    keras.layers.SimpleRNNCell: _simple,
    keras.layers.GRUCell: _gru,
    keras.layers.LSTMCell: _lstm,
}
# From a cell to `project(inputs)` and `step(projected_t, state)`.
_SPLIT = {
    **_STOCK,
    LayerNormGRUCell: _layer_norm_gru,
    LayerNormLSTMCell: _layer_norm_lstm,
}
