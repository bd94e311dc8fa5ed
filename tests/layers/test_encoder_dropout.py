"""Dropout of encoders: which masks last a sequence, and who draws them."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.layers.dropout_cases import KINDS, RATE, Echo
from tests.layers.encoder_cases import ALL, sequence

OURS = {
    "layer_norm_gru": ks.layers.LayerNormGRUCell,
    "layer_norm_lstm": ks.layers.LayerNormLSTMCell,
}


@pytest.mark.parametrize("variational", [False, True])
def test_masks_last_a_sequence_if_they_are_variational(variational):
    encoder = ks.BiEncoder(
        8, Echo(8), dropout=RATE, use_variational_dropout=variational, seed=1
    )
    seen = encoder(np.ones((6, 9, 8)), training=True).values.numpy()
    assert set(np.unique(seen)) == {0.0, 1 / (1 - RATE)}
    assert not np.array_equal(seen[0], seen[1])
    constant = np.array_equal(seen, np.repeat(seen[:, :1], 9, axis=1))
    assert constant == variational


@pytest.mark.parametrize("kind", KINDS)
@ALL
def test_training_and_seeds(make, kind):
    inputs, results = sequence(), []
    for seed in (1, 1, 2):
        keras.utils.set_random_seed(7)
        encoder = make(seed=seed, **KINDS[kind])
        plain = encoder(inputs).values
        np.testing.assert_array_equal(plain, encoder(inputs, training=False).values)
        first = encoder(inputs, training=True).values.numpy()
        assert not np.allclose(first, encoder(inputs, training=True).values)
        assert not np.allclose(first, plain)
        results.append(first)
    np.testing.assert_array_equal(results[0], results[1])
    assert not np.allclose(results[0], results[2])


@ALL
def test_no_two_layers_share_a_seed(make):
    encoder = make(seed=1, dropout=RATE, recurrent_dropout=RATE)
    seeds = [
        part.seed
        for part in encoder._flatten_layers()
        if isinstance(part, (keras.layers.Dropout, keras.layers.LSTMCell))
    ]
    assert len(seeds) >= 3 and len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("cell", OURS)
def test_our_cells_in_keras_layer(cell):
    """Masks for training alone, new ones for every call."""
    keras.utils.set_random_seed(7)
    inputs = sequence()
    for options in ({"dropout": RATE}, {"recurrent_dropout": RATE}):
        layer = keras.layers.RNN(OURS[cell](5, seed=1, **options))
        plain = layer(inputs)
        np.testing.assert_array_equal(plain, layer(inputs, training=False))
        first, second = (layer(inputs, training=True).numpy() for _ in range(2))
        assert not np.allclose(first, second) and not np.allclose(first, plain)
        bare = keras.layers.RNN(OURS[cell](5))
        bare.build(inputs.shape)
        bare.set_weights(layer.get_weights())
        np.testing.assert_array_equal(plain, bare(inputs))


@pytest.mark.parametrize("cell", OURS)
def test_our_cells_drop_the_state_inside_the_product_alone(cell):
    """As if the rows of U that a mask drops were 0, and the others twice as large."""
    made = OURS[cell](5, recurrent_dropout=RATE, seed=1)
    made.build((None, 4))
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 4)).astype("float32")
    states = [rng.normal(size=(1, 5)).astype("float32") for _ in range(2)]
    states = states if cell == "layer_norm_lstm" else states[:1]
    mask = made.get_recurrent_dropout_mask(keras.ops.convert_to_tensor(states[0]))
    mask = np.asarray(keras.tree.flatten(mask)[0])  # kept until it is reset
    assert set(np.unique(mask)) == {0.0, 2.0}
    output, new = made(x, states, training=True)
    kernel = keras.ops.convert_to_numpy(made.recurrent_kernel)
    made.recurrent_kernel.assign(mask[0][:, None] * kernel)
    expected, carried = made(x, states)
    np.testing.assert_allclose(output, expected, atol=1e-6)
    for n, c in zip(new, carried, strict=True):
        np.testing.assert_allclose(n, c, atol=1e-6)


@pytest.mark.parametrize("name", ["activation", "implementation", "bias_constraint"])
@pytest.mark.parametrize("cell", OURS)
def test_our_cells_take_nothing_that_they_would_ignore(cell, name):
    with pytest.raises(TypeError, match=name):
        OURS[cell](5, **{name: None})
