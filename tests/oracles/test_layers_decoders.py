"""Every decoder cell of the library against its oracle, at random weights."""

import functools

import keras
import numpy as np
import pytest
from keras import tree

import keras_seqattn as ks
from tests.oracles import decoder_cells, decoders
from tests.oracles.decoder_cells import CELLS
from tests.oracles.makers import MASK as VALUE_MASK
from tests.oracles.makers import TOLERANCES, check_rows
from tests.oracles.weights import array, kernel, mechanism, randomize, step_of, steps_of
from tests.public import subclasses

EMBEDDING, MEMORY_DEPTH, TARGET, SOURCE = 3, 6, 4, 5
INPUTS_MASK = [[1, 1, 1, 0], [0, 0, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1]]
INPUTS_MASK = np.array(INPUTS_MASK, dtype=bool)


# The oracles: (cell, inputs, mask, recurrent state, (attention state, attend)) ->
# outputs, alignments [batch, target, ..., source], (recurrent state, attention state).


def bahdanau_oracle(cell, inputs, mask, recurrent, start, attend):
    steps, layers = stack(cell, recurrent)
    options = {"attend": attend, "cells": steps, "mask": mask, "readout": cell.readout}
    options["use_inputs"] = cell.use_inputs
    return decoders.bahdanau(inputs, layers, start, **options)


def luong_oracle(cell, inputs, mask, recurrent, start, attend):
    steps, layers = stack(cell, recurrent)
    options = {"attend": attend, "cells": steps, "mask": mask}
    options["attentional_kernel"] = kernel(cell.attentional_layer)
    activation = keras.activations.serialize(cell.attentional_activation)
    options["activation"] = {"tanh": np.tanh, "linear": None}[activation]
    options["joined"] = cell.attentional == "concat"
    options["input_feeding"] = cell.use_input_feeding
    zeros = np.zeros([len(inputs), cell.output_depth])
    found = decoders.luong(inputs, layers, start, zeros, **options)
    outputs, alignments, (state, attention, _) = found
    return outputs, alignments, (state, attention)


def gnmt_oracle(cell, inputs, mask, recurrent, start, attend):
    cells, first = [step_of(c) for c in cell.cells], cell.residual_from - 1  # from 0
    options = {"attend": attend, "cells": cells, "mask": mask, "query": cell.query}
    found = decoders.gnmt(inputs, recurrent, start, residual_from=first, **options)
    outputs, alignments, state = found
    if cell.readout == "state":
        outputs = outputs[..., : cell.units]
    return outputs, alignments, state


def conditional_oracle(cell, inputs, mask, recurrent, start, attend):
    steps = [step_of(c) for c in cell.cells]
    options = {"attend": attend, "cells": steps, "mask": mask}
    return decoders.conditional(inputs, recurrent, start, **options)


def context_oracle(cell, inputs, mask, recurrent):
    steps, layers = stack(cell, recurrent)
    options = {"cells": steps, "mask": mask, "feed_context": cell.use_context}
    return decoders.context_only(inputs, layers, **options)


def cho_oracle(cell, inputs, mask, recurrent):
    starts = tree.pack_sequence_as(
        keras_lists(cell.recurrence.state_size), [dense(start) for start in cell.starts]
    )
    steps, starts = stack(cell, starts)
    options = {"summary": dense(cell.summary), "starts": starts, "mask": mask}
    return decoders.cho(inputs, recurrent, cells=steps, **options)


def dense(layer):
    return array(layer.kernel), array(layer.bias)


def stack(cell, recurrent):
    """Cells and states of the layers, bottom first; of one layer a list, too."""
    steps = steps_of(cell.recurrence)
    return steps, recurrent if len(steps) > 1 else [recurrent]


ORACLES = {
    ks.layers.BahdanauCell: bahdanau_oracle,
    ks.layers.ChoCell: cho_oracle,
    ks.layers.ConditionalCell: conditional_oracle,
    ks.layers.ContextCell: context_oracle,
    ks.layers.GNMTCell: gnmt_oracle,
    ks.layers.LuongCell: luong_oracle,
}


def expected(cell, inputs, mask, recurrent, value, value_mask):
    """By the oracle; without attention every alignment is zero."""
    oracle = ORACLES[type(cell)]
    inputs, value = inputs.astype("float64"), value.astype("float64")
    recurrent = tree.map_structure(lambda x: x.astype("float64"), recurrent)
    if not hasattr(cell, "attention"):
        outputs, state = oracle(cell, inputs, mask, recurrent)
        return outputs, np.zeros([*inputs.shape[:2], value.shape[1]]), (state, ())
    attention = mechanism(cell.attention)
    bound = attention.first(value, value_mask), attention.bind(value, value_mask)
    return oracle(cell, inputs, mask, recurrent, *bound)


@functools.cache
def built(name, dtype):
    decoder = ks.AttentionDecoder(CELLS[name](dtype=dtype), dtype=dtype)
    decoder.build((None, None, EMBEDDING), (None, None, MEMORY_DEPTH))
    randomize(decoder)
    return decoder


def arguments(cell, masked, dtype):
    random = np.random.default_rng(2)
    inputs = random.normal(size=[4, TARGET, EMBEDDING]).astype(dtype)
    value = random.normal(size=[4, SOURCE, MEMORY_DEPTH]).astype(dtype)
    recurrent = tree.map_structure(
        lambda size: random.normal(size=[4, size]).astype(dtype),
        keras_lists(cell.state_size),
    )
    if not masked:
        return inputs, None, recurrent, value, None
    inputs[~INPUTS_MASK], value[~VALUE_MASK] = np.nan, np.nan
    return inputs, INPUTS_MASK, recurrent, value, VALUE_MASK


def keras_lists(nest):
    if isinstance(nest, (list, tuple)):
        return [keras_lists(entry) for entry in nest]
    return nest


def check(name, dtype, masked):
    decoder, tolerance = built(name, dtype), TOLERANCES[dtype]
    inputs, mask, recurrent, value, value_mask = arguments(decoder.cell, masked, dtype)
    options = {"return_attention_scores": True, "return_state": True}
    options |= {"inputs_mask": mask, "value_mask": value_mask}
    found = decoder(inputs, value, initial_state=recurrent, **options)
    outputs, alignments, state = found
    state = state.recurrent, getattr(state, "attention", ())
    received = outputs, np.moveaxis(alignments, -2, 1), state
    right = expected(decoder.cell, inputs, mask, recurrent, value, value_mask)
    names = "outputs", "alignments", "state"
    for what, r, e in zip(names, received, right, strict=True):
        for x, y in zip(tree.flatten(r), tree.flatten(e), strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=tolerance, err_msg=what)


@pytest.mark.parametrize("name", CELLS)
def test_decoder_equals_oracle(name):
    check(name, "float64", masked=True)


@pytest.mark.product
@pytest.mark.parametrize(
    ("dtype", "masked"), [("float64", False), ("float32", True), ("float32", False)]
)
@pytest.mark.parametrize("name", CELLS)
def test_in_float32_and_without_masks(name, dtype, masked):
    check(name, dtype, masked)


@pytest.mark.parametrize("name", ["bahdanau_gru_state", "luong_lstm_fed", "gnmt"])
def test_without_a_state_it_starts_from_zeros(name):
    decoder = built(name, "float64")
    given = arguments(decoder.cell, True, "float64")
    inputs, mask, recurrent, value, value_mask = given
    zeros = tree.map_structure(np.zeros_like, recurrent)
    outputs = decoder(inputs, value, inputs_mask=mask, value_mask=value_mask)
    right, *_ = expected(decoder.cell, inputs, mask, zeros, value, value_mask)
    np.testing.assert_allclose(outputs, right, rtol=0, atol=1e-10)


def test_every_public_decoder_cell_has_an_oracle_test():
    public = subclasses(ks.layers.DecoderCell)
    public -= {ks.layers.DecoderCell, ks.layers.AttentiveCell}
    tested = {type(make(dtype="float32")) for make in CELLS.values()}
    check_rows("CELLS", decoder_cells.__file__, public, tested)
    check_rows("ORACLES", __file__, public, set(ORACLES))
