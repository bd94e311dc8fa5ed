"""Every decoder cell of the library against its oracle, at random weights."""

import keras
import numpy as np
import pytest
from keras import tree

import keras_seqattn as ks
from tests.oracles import decoders, encoders
from tests.oracles.cells import output_of
from tests.oracles.decoder_cells import CELLS, UNITS
from tests.oracles.weights import array, kernel, mechanism, randomize, step_of, steps_of
from tests.public import subclasses

EMBEDDING, MEMORY_DEPTH, TARGET, SOURCE = 3, 6, 4, 5
VALUE_MASK = np.array(
    [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 0, 1, 1], [0, 0, 0, 0, 0]], dtype=bool
)
INPUTS_MASK = np.array(
    [[1, 1, 1, 0], [0, 0, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1]], dtype=bool
)
TOLERANCES = {"float32": 1e-5, "float64": 1e-10}


# The oracles: (cell, inputs, mask, recurrent state, value, value_mask) -> outputs,
# alignments [batch, target, ..., source], recurrent state, attention state.


def bahdanau_oracle(cell, inputs, mask, recurrent, value, value_mask):
    oracle = mechanism(cell.attention)
    steps, before = steps_of(cell.recurrence), []
    layers = recurrent if len(steps) > 1 else [recurrent]

    def one_cell(x, state):
        before.append(state[0])
        states, new = from_top_first(state, layers), []
        for step, past in zip(steps, states, strict=True):
            new.append(step(x, past))
            x = output_of(new[-1])
        return top_first(new)

    outputs, alignments, (state, attention) = decoders.bahdanau(
        inputs,
        top_first(layers),
        oracle.start(*value.shape[:2]),
        attend=oracle.bind(value, value_mask),
        cell=one_cell,
        mask=mask,
    )
    if cell.readout == "previous_state":
        for t, previous in enumerate(before):  # (A.2.2): s_{i-1} in place of s_i
            real = decoders.real_at(mask, inputs, t)
            outputs[:, t, :UNITS] = decoders.blank(real, previous)
    state = from_top_first(state, layers)
    return outputs, alignments, state if len(steps) > 1 else state[0], attention


def top_first(layers):
    """Flat, the top layer's h in front: what `decoders.bahdanau` attends with."""
    return [leaf for layer in reversed(layers) for leaf in tree.flatten(layer)]


def from_top_first(leaves, like):
    leaves, layers = list(leaves), []
    for layer in reversed(like):
        mine = [leaves.pop(0) for _ in tree.flatten(layer)]
        layers.insert(0, tree.pack_sequence_as(layer, mine))
    return layers


ACTIVATIONS = {"tanh": np.tanh, "linear": None}


def luong_oracle(cell, inputs, mask, recurrent, value, value_mask):
    oracle, steps = mechanism(cell.attention), steps_of(cell.recurrence)
    outputs, alignments, (state, attention, _) = decoders.luong(
        inputs,
        recurrent if len(steps) > 1 else [recurrent],
        oracle.start(*value.shape[:2]),
        np.zeros([len(inputs), cell.output_depth]),
        attend=oracle.bind(value, value_mask),
        cells=steps,
        mask=mask,
        attentional_kernel=kernel(cell.attentional_layer),
        activation=ACTIVATIONS[
            keras.activations.serialize(cell.attentional_activation)
        ],
        input_feeding=cell.use_input_feeding,
    )
    return outputs, alignments, state if len(steps) > 1 else state[0], attention


def gnmt_oracle(cell, inputs, mask, recurrent, value, value_mask):
    if cell.query == "current":
        return gnmt_current_oracle(cell, inputs, mask, recurrent, value, value_mask)
    oracle, contexts = mechanism(cell.attention), []
    attend = oracle.bind(value, value_mask)

    def recorded(query, state):
        attended = attend(query, state)
        real = decoders.real_at(mask, inputs, len(contexts))
        contexts.append(decoders.blank(real, attended[0]))
        return attended

    outputs, alignments, (state, attention) = decoders.gnmt(
        inputs,
        recurrent,
        oracle.start(*value.shape[:2]),
        attend=recorded,
        cells=[step_of(c) for c in cell.cells],
        mask=mask,
        residual_from=cell.residual_from - 1,  # counted from 0 there
        context_to_bottom=False,
    )
    if cell.readout == "state_context":
        outputs = decoders.join(outputs, np.stack(contexts, axis=1))
    return outputs, alignments, state, attention


def gnmt_current_oracle(cell, inputs, mask, recurrent, value, value_mask):
    # Nothing above the bottom layer is fed back to it: layer after layer will do.
    oracle, steps = mechanism(cell.attention), [step_of(c) for c in cell.cells]
    x, bottom = encoders.one_way(inputs, (steps[0], recurrent[0]), mask)
    attention, contexts, alignments = oracle.start(*value.shape[:2]), [], []
    for t in range(inputs.shape[1]):
        real = decoders.real_at(mask, inputs, t)
        read, alpha, new = oracle.attend(x[:, t], value, value_mask, attention)
        attention = decoders.carry(real, new, attention)
        contexts.append(read)
        alignments.append(decoders.blank(real, alpha))
    contexts, state = np.stack(contexts, axis=1), [bottom]
    for number, (step, past) in enumerate(
        zip(steps[1:], recurrent[1:], strict=True), start=2
    ):
        m, new = encoders.one_way(decoders.join(x, contexts), (step, past), mask)
        state.append(new)
        x = m + x if number >= cell.residual_from else m
    if cell.readout == "state_context":
        real = np.ones(x.shape[:2], bool) if mask is None else mask
        x = decoders.join(x, contexts * real[..., None])
    return x, np.stack(alignments, axis=1), state, attention


def context_oracle(cell, inputs, mask, recurrent, value, value_mask):
    steps = steps_of(cell.recurrence)
    outputs, state = decoders.context_only(
        inputs,
        recurrent if len(steps) > 1 else [recurrent],
        cells=steps,
        mask=mask,
        feed_context=cell.use_context,
    )
    nowhere = np.zeros([*inputs.shape[:2], value.shape[1]])
    return outputs, nowhere, state if len(steps) > 1 else state[0], ()


def conditional_oracle(cell, inputs, mask, recurrent, value, value_mask):
    oracle = mechanism(cell.attention)
    outputs, alignments, (state, attention) = decoders.conditional(
        inputs,
        recurrent,
        oracle.start(*value.shape[:2]),
        attend=oracle.bind(value, value_mask),
        cells=[step_of(c) for c in cell.cells],
        mask=mask,
    )
    return outputs, alignments, state, attention


def cho_oracle(cell, inputs, mask, recurrent, value, value_mask):
    steps = steps_of(cell.recurrence)
    starts = tree.pack_sequence_as(
        keras_lists(cell.recurrence.state_size), [dense(start) for start in cell.starts]
    )
    outputs, state = decoders.cho(
        inputs,
        recurrent,
        cells=steps,
        summary=dense(cell.summary),
        starts=starts if len(steps) > 1 else [starts],
        mask=mask,
    )
    nowhere = np.zeros([*inputs.shape[:2], value.shape[1]])
    return outputs, nowhere, state if len(steps) > 1 else state[0], ()


def dense(layer):
    return array(layer.kernel), array(layer.bias)


ORACLES = {
    ks.layers.BahdanauCell: bahdanau_oracle,
    ks.layers.ChoCell: cho_oracle,
    ks.layers.ConditionalCell: conditional_oracle,
    ks.layers.ContextCell: context_oracle,
    ks.layers.GNMTCell: gnmt_oracle,
    ks.layers.LuongCell: luong_oracle,
}


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


@pytest.mark.parametrize("masked", [False, True], ids=["real", "padded"])
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("name", CELLS)
def test_decoder_equals_oracle(name, dtype, masked):
    decoder, tolerance = built(name, dtype), TOLERANCES[dtype]
    inputs, mask, recurrent, value, value_mask = arguments(decoder.cell, masked, dtype)
    outputs, alignments, state = decoder(
        inputs,
        value,
        initial_state=recurrent,
        inputs_mask=mask,
        value_mask=value_mask,
        return_attention_scores=True,
        return_state=True,
    )
    oracle = ORACLES[type(decoder.cell)]
    expected = oracle(decoder.cell, inputs, mask, recurrent, value, value_mask)
    past = getattr(state, "attention", ())
    got = [outputs, np.moveaxis(alignments, -2, 1), state.recurrent, past]
    for part, (a, b) in enumerate(zip(got, expected, strict=True)):
        for x, y in zip(tree.flatten(a), tree.flatten(b), strict=True):
            message = ("outputs", "alignments", "recurrent", "attention")[part]
            np.testing.assert_allclose(x, y, rtol=0, atol=tolerance, err_msg=message)


@pytest.mark.parametrize("name", ["bahdanau_gru_state", "luong_lstm_fed", "gnmt"])
def test_without_a_state_it_starts_from_zeros(name):
    decoder = built(name, "float64")
    inputs, mask, recurrent, value, value_mask = arguments(
        decoder.cell, True, "float64"
    )
    zeros = tree.map_structure(np.zeros_like, recurrent)
    outputs = decoder(inputs, value, inputs_mask=mask, value_mask=value_mask)
    oracle = ORACLES[type(decoder.cell)]
    expected, *_ = oracle(decoder.cell, inputs, mask, zeros, value, value_mask)
    np.testing.assert_allclose(outputs, expected, rtol=0, atol=1e-10)


def test_every_public_decoder_cell_has_an_oracle_test():
    public = subclasses(ks.layers.DecoderCell)
    public -= {ks.layers.DecoderCell, ks.layers.AttentiveCell}
    tested = {type(make(dtype="float32")) for make in CELLS.values()}
    assert public == tested == set(ORACLES), "a cell without a row in CELLS"
