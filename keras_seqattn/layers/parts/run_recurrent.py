"""Runs a stock recurrent layer over a sequence, under a mask.

Keras's loop multiplies `W x_t` step by step. Where neither cuDNN nor dropout needs
Keras's loop, the products of all steps are hoisted: one product before a loop that
computes the same from the weights of the stock layer.
"""

import keras
from keras import ops, tree

from keras_seqattn.layers.layer_norm_cells import LayerNormGRUCell, LayerNormLSTMCell
from keras_seqattn.ops import cell as equations
from keras_seqattn.ops import dispatch
from keras_seqattn.ops.dispatch import cell_step, unroll
from keras_seqattn.ops.loop_ops import multiply
from keras_seqattn.ops.mask import zero_padding


def run(
    layer, inputs, mask=None, training=None, owner="encoder", implementation="auto"
):
    """Run one stock layer over a sequence, in its own direction, under a mask.

    cuDNN takes right-padded rows with at least one step, so the first position of an
    empty row counts as real, and its result is set to zero. A layer that goes backwards
    reverses within the lengths (cuDNN), or passes the padding first with an unchanged
    state (other kernels, which also take masks with holes). Its values are returned in
    the order of the inputs.

    Args:
        layer: made by `Recurrence.layer`.
        inputs: `[batch, source, depth]`, zero in the padding.
        mask: `[batch, source]` bool, or None when everything is real.
        training: whether dropout inside the cell is on.
        owner: name of the encoder, for errors.
        implementation: its argument.

    Returns:
        Values `[batch, source, units]`, zero in the padding, and the state after the
        last real step in the structure of the cell, zero where nothing is real.
    """
    reason = reason_to_use_keras(layer, training)
    is_hoisted = dispatch.runs_fast(owner, implementation, reason)
    if is_hoisted:
        values, state = _hoisted(
            layer,
            inputs,
            state_size(layer),
            mask=mask,
            training=training,
            owner=owner,
            implementation=implementation,
        )
    else:
        values, state = _stock(layer, inputs, mask, training)
    if layer.go_backwards:
        values = ops.flip(values, axis=1)
    if mask is not None and not is_hoisted:
        values = zero_padding(values, mask)
        some_real = ops.any(mask, axis=1)
        state = tree.map_structure(
            lambda s: zero_padding(s[:, None], some_real[:, None])[:, 0], state
        )
    return values, tree.pack_sequence_as(state_size(layer), tree.flatten(state))


def _stock(layer, inputs, mask, training):
    """Run the layer as Keras does."""
    mask_of_layer = _lend_first_step(mask)
    values, *state = layer(inputs, mask=mask_of_layer, training=training)
    return values, state


def state_size(layer):
    """The sizes in the state that `run` returns: an integer or nested lists of them."""
    return as_lists(layer.cell.state_size)


def as_lists(nest):
    """Plain lists, as JSON has them, in place of tuples and Keras's tracked lists."""
    if isinstance(nest, (list, tuple)):
        return [as_lists(item) for item in nest]
    return nest


def _lend_first_step(mask):
    if mask is None:
        return None
    empty = ops.logical_not(ops.any(mask, axis=1, keepdims=True))
    first = ops.arange(ops.shape(mask)[1]) == 0
    return ops.logical_or(mask, ops.logical_and(empty, first))


def reason_to_use_keras(layer, training):
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


def _hoisted(
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
        layer: a recurrent layer for which `reason_to_use_keras` returns None.
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
    return project, lambda x, h: equations.simple_step(x, h, recurrent(h))


def _gru(cell):
    if cell.reset_after:
        project = _product(cell.kernel, cell.bias[0])
        recurrent = _product(cell.recurrent_kernel, cell.bias[1])
        return project, lambda x, h: cell_step("gru")(x, h, recurrent(h))
    gates = _product(cell.recurrent_kernel[:, : 2 * cell.units])
    proposal = _product(cell.recurrent_kernel[:, 2 * cell.units :])
    return _product(
        cell.kernel, cell.bias
    ), lambda x, h: equations.gru_reset_before_step(x, h, gates(h), proposal)


def _lstm(cell):
    project = _product(cell.kernel, cell.bias)
    recurrent = _product(cell.recurrent_kernel)
    return project, lambda x, state: cell_step("lstm")(x, state, recurrent(state[0]))


def _layer_norm_gru(cell):
    project, recurrent = _normalized(cell)
    return project, lambda x, h: equations.layer_norm_gru_step(x, h, recurrent(h))


def _layer_norm_lstm(cell):
    project, recurrent = _normalized(cell)
    return project, lambda x, state: equations.layer_norm_lstm_step(
        x, state, recurrent(state[0]), cell.state_norm
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
