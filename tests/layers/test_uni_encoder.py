"""One-way layers; backwards they are the reversed sentence of the papers."""

import numpy as np
import pytest

from keras_seqattn.layers.uni_encoder import UniEncoder
from tests.layers.encoder_cases import (
    MASKS,
    assert_nests_equal,
    for_oracle,
    randomize,
    sequence,
)
from tests.oracles import encoders


def built(*args, **kwargs):
    encoder = UniEncoder(*args, dtype="float64", **kwargs)
    encoder.build((None, None, 4))
    randomize(encoder)
    return encoder


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize(("cell", "residual_from"), [("lstm", 2), ("gru", None)])
def test_equals_oracle(cell, residual_from, backwards, mask):
    inputs = sequence()
    encoder = built(
        3, layers=3, cell=cell, residual_from=residual_from, go_backwards=backwards
    )
    encoded = encoder(inputs, mask=mask)
    values, state = encoders.stacked_one_way(
        inputs,
        [for_oracle(layer, cell) for layer in encoder.recurrent_layers],
        mask,
        backwards=backwards,
        residual_from=None if residual_from is None else residual_from - 1,  # from 0
    )
    np.testing.assert_allclose(encoded.values, values, rtol=0, atol=1e-12)
    assert_nests_equal(encoded.state, state, atol=1e-12)


def test_backwards_is_the_reversed_sentence():
    """What the papers do: reverse each sentence, not its padding."""
    lengths = [3, 5, 1]
    mask = np.arange(5) < np.array(lengths)[:, None]
    inputs = sequence()
    reversed_inputs = inputs.copy()
    for row, length in enumerate(lengths):
        reversed_inputs[row, :length] = inputs[row, :length][::-1]
    forwards, backwards = built(3, layers=2), built(3, layers=2, go_backwards=True)
    expected = forwards(reversed_inputs, mask=mask)
    received = backwards(inputs, mask=mask)
    assert_nests_equal(received.state, [list(map(np.asarray, s)) for s in expected[2]])
    for row, length in enumerate(lengths):  # values are in the order of the source
        np.testing.assert_allclose(
            received.values[row, :length],
            np.asarray(expected.values)[row, :length][::-1],
            atol=1e-12,
        )
