"""States that go on, and parts that belong to one decoder."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks


def two_parts(make_cell):
    """A decoder, the arguments of a call, and its inputs in two parts."""
    decoder = ks.AttentionDecoder(make_cell())
    rng = np.random.default_rng(5)
    inputs = rng.normal(size=(2, 6, 4)).astype("float32")
    value = rng.normal(size=(2, 5, 6)).astype("float32")
    return decoder, inputs, value


RESUMABLE = {
    "bahdanau": lambda: ks.layers.BahdanauCell(
        3, ks.layers.CoverageAttention(3), cell="lstm"
    ),
    "luong": lambda: ks.layers.LuongCell(3, ks.LuongAttention(), layers=2),
    "gnmt": lambda: ks.layers.GNMTCell(3, ks.BahdanauAttention(3), layers=3),
}


@pytest.mark.parametrize("name", RESUMABLE)
def test_a_returned_state_goes_on_as_initial_state(name):
    decoder, inputs, value = two_parts(RESUMABLE[name])
    whole = decoder(inputs, value)
    first, state = decoder(inputs[:, :4], value, return_state=True)
    second = decoder(inputs[:, 4:], value, initial_state=state)
    np.testing.assert_allclose(whole[:, :4], first, atol=1e-6)
    np.testing.assert_allclose(whole[:, 4:], second, atol=1e-6)


def test_a_reloaded_model_returns_a_state_that_steps(tmp_path):
    decoder, inputs, value = two_parts(RESUMABLE["luong"])
    symbols = [keras.Input(x.shape[1:]) for x in (inputs, value)]
    model = keras.Model(symbols, decoder(*symbols, return_state=True))
    model.save(tmp_path / "model.keras")
    reloaded = keras.models.load_model(tmp_path / "model.keras")
    loaded = reloaded.get_layer(decoder.name)
    _, state = reloaded([inputs, value])
    step = loaded.step(inputs[:, 0], state, list(loaded.prepare(value)))
    expected = decoder.step(
        inputs[:, 0], model([inputs, value])[1], decoder.prepare(value)
    )
    np.testing.assert_array_equal(step.output, expected.output)


@pytest.mark.parametrize("name", RESUMABLE)
def test_a_reloaded_model_goes_on_from_a_state(name, tmp_path):
    decoder, inputs, value = two_parts(RESUMABLE[name])
    parts = inputs[:, :4], inputs[:, 4:]
    *symbols, source = [keras.Input(x.shape[1:]) for x in (*parts, value)]
    first, state = decoder(symbols[0], source, return_state=True)
    second = decoder(symbols[1], source, initial_state=state)
    model = keras.Model([*symbols, source], [first, second])
    model.save(tmp_path / "model.keras")
    reloaded = keras.models.load_model(tmp_path / "model.keras")
    whole = np.concatenate(reloaded([*parts, value]), axis=1)
    np.testing.assert_allclose(whole, decoder(inputs, value), atol=1e-6)


def test_the_dtype_of_the_mechanism_is_that_of_all_around_it():
    attention = ks.BahdanauAttention(3, dtype="mixed_float16")
    decoder = ks.AttentionDecoder(ks.layers.BahdanauCell(3, attention))
    inputs, value = np.ones((2, 3, 4), "float32"), np.ones((2, 5, 6), "float32")
    assert decoder.compute_dtype == decoder(inputs, value).dtype.name == "float16"


@pytest.mark.parametrize("copies", [1, 2])
def test_one_keras_cell_serves_many_decoders_each_with_its_own_weights(copies):
    template = keras.layers.GRUCell(3)
    inputs, value = np.ones((2, 3, 4), "float32"), np.ones((2, 5, 6), "float32")
    decoders = [
        ks.AttentionDecoder(
            ks.layers.BahdanauCell(3, ks.BahdanauAttention(3), cell=template)
        )
        for _ in range(copies)
    ]
    outputs = [decoder(inputs, value).numpy() for decoder in decoders]
    assert not template.built
    assert copies == 1 or not np.allclose(*outputs)


def test_a_keras_cell_is_told_whether_it_trains():
    @keras.saving.register_keras_serializable(package="test_attention_decoder")
    class Told(keras.layers.SimpleRNNCell):
        seen = []

        def call(self, inputs, states, training=False):
            self.seen.append(training)
            return super().call(inputs, states)

    decoder = ks.AttentionDecoder(
        ks.layers.BahdanauCell(3, ks.BahdanauAttention(3), cell=Told(3))
    )
    inputs, value = np.ones((2, 3, 4), "float32"), np.ones((2, 5, 6), "float32")
    decoder(inputs, value)
    memory = decoder.prepare(value)
    state = decoder.initial_state(memory)
    Told.seen.clear()
    decoder.step(inputs[:, 0], state, memory, training=True)
    assert Told.seen == [True]


U = keras.initializers.RandomUniform(-0.1, 0.1)


@pytest.mark.parametrize(
    "attention",
    [
        lambda: ks.layers.CoverageAttention(6),
        lambda: ks.layers.LocalAttention(
            ks.LuongAttention("concat", kernel_initializer=U),
            position="predictive",
            kernel_initializer=U,
        ),
    ],
    ids=["coverage", "local"],
)
def test_no_two_weights_start_as_the_same(attention):
    """An initializer that is called twice returns the same values."""
    attention = attention()
    attention.build((2, 3, 4), (2, 5, 4))
    vectors = [w.numpy() for w in attention.weights if w.shape.rank == 1 and np.any(w)]
    assert len(vectors) >= 2
    assert len({x.tobytes() for x in vectors}) == len(vectors)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize(
    "make",
    [
        lambda dtype: ks.BahdanauAttention(4, dtype=dtype),
        lambda dtype: ks.LuongAttention("concat", dtype=dtype),
        lambda dtype: ks.layers.MultiHeadAdditiveAttention(4, heads=2, dtype=dtype),
        lambda dtype: ks.layers.CoverageAttention(4, dtype=dtype),
        lambda dtype: ks.layers.LocationSensitiveAttention(4, 2, 3, dtype=dtype),
        lambda dtype: ks.layers.LocalAttention(ks.BahdanauAttention(4, dtype=dtype)),
    ],
    ids=["bahdanau", "concat", "heads", "coverage", "location", "local"],
)
def test_scores_with_a_hidden_layer_are_float32(make, policy):
    attention = make(policy)
    query, value = np.ones((2, 3, 4), "float32"), np.ones((2, 5, 4), "float32")
    assert attention(query, value).dtype == attention.compute_dtype != "float32"
    memory = attention.prepare(value)
    query = np.ones((2, 4), attention.compute_dtype)
    scores = attention.score(query, memory, attention.initial_state(memory))
    assert memory.keys.dtype == scores.dtype == "float32"
    assert memory.values.dtype == attention.compute_dtype
