import keras
import numpy as np
import pytest

from keras_seqattn.layers.pyramidal_encoder import PyramidalEncoder
from tests.layers.encoder_cases import (
    MASKS,
    assert_nests_equal,
    pairs_for_oracle,
    randomize,
    sequence,
)
from tests.oracles import encoders


def built(*args, **kwargs):
    encoder = PyramidalEncoder(*args, dtype="float64", **kwargs)
    encoder.build((None, None, 4))
    randomize(encoder)
    return encoder


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize(
    ("cell", "layers", "factor"), [("lstm", 2, 2), ("gru", 1, 3), ("simple", 1, 7)]
)
def test_equals_oracle(cell, layers, factor, mask):
    inputs = sequence()
    encoder = built(3, layers=layers, cell=cell, factor=factor)
    encoded = encoder(inputs, mask=mask)
    levels = [encoder.bottom, *encoder.pyramid]
    values, state, reduced = encoders.pyramid(
        inputs,
        [pairs_for_oracle(level, cell)[0] for level in levels],
        mask,
        factor=factor,
    )
    np.testing.assert_allclose(encoded.values, values, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(encoded.mask, reduced)
    assert_nests_equal(encoded.state, state, atol=1e-12)


@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("length", [1, 4, 5, 6, 7])
def test_padding_and_company_change_nothing(length, factor):
    encoder = built(3, layers=2, factor=factor)
    alone = sequence(batch=1, source=length)
    batch = np.full([2, 11, 4], np.nan)
    batch[0, :length], batch[1] = alone[0], sequence(batch=1, source=11)[0]
    mask = np.arange(11) < np.array([[length], [11]])
    short, long = encoder(alone), encoder(batch, mask=mask)
    reduced = short.values.shape[1]
    np.testing.assert_allclose(
        long.values[:1, :reduced], short.values, rtol=0, atol=1e-12
    )
    assert not np.any(long.values[0, reduced:])
    real = np.arange(long.mask.shape[1]) < reduced
    np.testing.assert_array_equal(long.mask[0], real)
    for a, b in zip(
        keras.tree.flatten(long.state), keras.tree.flatten(short.state), strict=True
    ):
        np.testing.assert_allclose(a[:1], b, rtol=0, atol=1e-12)


@pytest.mark.parametrize("source", [None, 1, 7, 8, 9])
def test_shape_rounds_up(source):
    encoder = PyramidalEncoder(5, layers=3)
    shape = encoder.compute_output_shape((None, source, 4))
    reduced = {None: None, 1: 1, 7: 1, 8: 1, 9: 2}[source]
    assert shape.values == (None, reduced, 10)
    assert shape.mask == (None, reduced)
    assert shape.state == [[(None, 10), (None, 10)]] * 4


def test_downstream_mask_is_the_reduced_one():
    encoded = built(3, layers=1)(sequence(), mask=MASKS["empty row"])
    expected = [[1, 0, 0], [0, 0, 0], [1, 1, 1]]
    np.testing.assert_array_equal(encoded.mask, np.array(expected, bool))
    np.testing.assert_array_equal(encoded.values._keras_mask, encoded.mask)


@pytest.mark.parametrize(
    ("arguments", "name", "received"),
    [
        ({"layers": 0}, "layers", "layers=0"),
        ({"factor": 0}, "factor", "factor=0"),
        ({"factor": 1.5}, "factor", "factor=1.5"),
        ({"units": None}, "units", "units=None"),
    ],
)
def test_messages(arguments, name, received):
    with pytest.raises(ValueError) as error:
        PyramidalEncoder(**{"units": 3, **arguments})
    assert (
        f"PyramidalEncoder got an unusable {name}. Expected a positive integer, "
        f"received {received}. Pass a Python int, 1 or more."
    ) in str(error.value)
