"""Reloaded states that go on, cells of Keras, parts that belong to one decoder."""

import keras
import numpy as np
import pytest
from keras import layers, tree

import keras_seqattn as ks

RANDOM = np.random.default_rng(5)
INPUTS = RANDOM.normal(size=(2, 6, 4)).astype("float32")
VALUE = RANDOM.normal(size=(2, 5, 6)).astype("float32")
CELLS = {
    "bahdanau": lambda: ks.layers.BahdanauCell(
        3, ks.layers.CoverageAttention(3), cell="lstm"
    ),
    "luong": lambda: ks.layers.LuongCell(3, ks.LuongAttention(), layers=2),
    "gnmt": lambda: ks.layers.GNMTCell(3, ks.BahdanauAttention(3), layers=3),
}


def bahdanau(cell, dtype=None):
    attention = ks.BahdanauAttention(3, dtype=dtype)
    return ks.AttentionDecoder(ks.layers.BahdanauCell(3, attention, cell=cell))


@pytest.mark.parametrize("name", CELLS)
def test_a_reloaded_model_goes_on_from_a_state(name, tmp_path):
    """Also in single steps: what it returns are plain lists."""
    decoder = ks.AttentionDecoder(CELLS[name]())
    parts = INPUTS[:, :4], INPUTS[:, 4:]
    *symbols, source = [keras.Input(x.shape[1:]) for x in (*parts, VALUE)]
    first, state = decoder(symbols[0], source, return_state=True)
    second = decoder(symbols[1], source, initial_state=state)
    model = keras.Model([*symbols, source], [first, second, state])
    model.save(tmp_path / "model.keras")
    reloaded = keras.models.load_model(tmp_path / "model.keras")
    first, second, state = reloaded([*parts, VALUE])
    whole = decoder(INPUTS, VALUE)
    np.testing.assert_allclose(first, whole[:, :4], atol=1e-6)
    np.testing.assert_allclose(second, whole[:, 4:], atol=1e-6)
    loaded = reloaded.get_layer(decoder.name)
    step = loaded.step(INPUTS[:, 4], state, list(loaded.prepare(VALUE)))
    np.testing.assert_allclose(step.output, whole[:, 4], atol=1e-6)


def test_the_dtype_of_the_mechanism_is_that_of_all_around_it():
    decoder = bahdanau("gru", "mixed_float16")
    assert decoder.compute_dtype == decoder(INPUTS, VALUE).dtype.name == "float16"


KERAS_CELLS = {
    "gru": lambda: layers.GRUCell(3),
    "lstm with other activations": lambda: layers.LSTMCell(
        3, activation="relu", recurrent_activation="hard_sigmoid", use_bias=False
    ),
    "stack": lambda: stack(layers.LSTMCell(7), layers.GRUCell(3)),
    "stack of one": lambda: stack(layers.LSTMCell(3)),
    "stack of one with one state": lambda: stack(layers.GRUCell(3)),
}


def stack(*cells):
    return layers.StackedRNNCells(cells)


@pytest.mark.parametrize("name", KERAS_CELLS)
def test_a_keras_cell_runs_as_it_is_for_every_hypothesis(name):
    decoder = ks.AttentionDecoder(ks.layers.ContextCell(3, KERAS_CELLS[name]()))
    decoder.build(INPUTS.shape, VALUE.shape)
    [part], sizes = decoder.cell.recurrence.cells, decoder.cell.state_size
    alone = [
        tree.map_structure(lambda n: RANDOM.normal(size=(2, n)).astype("f"), sizes)
        for _ in range(INPUTS.shape[1])
    ]
    memory = decoder.prepare(VALUE)
    starts = [decoder.initial_state(memory, state) for state in alone]
    beam = tree.map_structure(lambda *each: np.stack(each, axis=1), *starts)
    step = decoder.step(INPUTS, beam, memory)  # every input is a hypothesis
    for k, state in enumerate(alone):
        one = decoder.step(INPUTS[:, k], starts[k], memory)
        np.testing.assert_array_equal(part.output_of(one.state.recurrent), one.output)
        states = [state] if isinstance(sizes, int) else state
        expected = tree.flatten(part.cell(INPUTS[:, k], states))
        for found in (one, tree.map_structure(lambda x, k=k: x[:, k], step)):
            received = tree.flatten([found.output, found.state.recurrent])
            for r, e in zip(received, expected, strict=True):
                np.testing.assert_allclose(r, e, rtol=0, atol=1e-6)


def test_one_keras_cell_serves_many_decoders_each_with_its_own_weights():
    template = layers.GRUCell(3)
    one, other = (bahdanau(template)(INPUTS, VALUE).numpy() for _ in range(2))
    assert not template.built
    assert not np.allclose(one, other)


def test_a_keras_cell_is_told_whether_it_trains():
    @keras.saving.register_keras_serializable(package="test_attention_decoder")
    class Told(keras.layers.SimpleRNNCell):
        seen = []

        def call(self, inputs, states, training=False):
            self.seen.append(training)
            return super().call(inputs, states)

    decoder = bahdanau(Told(3))
    decoder(INPUTS, VALUE)
    memory = decoder.prepare(VALUE)
    state = decoder.initial_state(memory)
    Told.seen.clear()
    decoder.step(INPUTS[:, 0], state, memory, training=True)
    assert Told.seen == [True]
