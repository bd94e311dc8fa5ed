import numpy as np
import pytest

from keras_seqattn.layers.stacked_encoder import StackedEncoder
from tests.layers.encoder_cases import (
    MASKS,
    assert_nests_equal,
    for_oracle,
    pairs_for_oracle,
    randomize,
    sequence,
)
from tests.oracles import encoders


def built(*args, **kwargs):
    encoder = StackedEncoder(*args, dtype="float64", **kwargs)
    encoder.build((None, None, 4))
    randomize(encoder)
    return encoder


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize(
    ("cell", "residual_from"), [("lstm", 3), ("gru", 4), ("simple", None)]
)
def test_equals_oracle(cell, residual_from, mask):
    inputs = sequence()
    encoder = built(3, layers=4, cell=cell, residual_from=residual_from)
    encoded = encoder(inputs, mask=mask)
    (bottom,) = pairs_for_oracle(encoder.bottom, cell)
    values, state = encoders.gnmt(
        inputs,
        bottom,
        [for_oracle(layer, cell) for layer in encoder.upper_layers],
        mask,
        residual_from=99 if residual_from is None else residual_from - 1,  # from 0
    )
    np.testing.assert_allclose(encoded.values, values, rtol=0, atol=1e-12)
    assert_nests_equal(encoded.state, state, atol=1e-12)


def test_residuals_start_at_the_third_layer():
    # Cells that put out zeros leave what the residuals carry past them.
    encoder = built(3, layers=4)
    for layer in encoder.upper_layers[1:]:
        layer.set_weights([np.zeros(w.shape) for w in layer.get_weights()])
    inputs = sequence()
    below = built(3, layers=2)
    below.set_weights(encoder.get_weights()[: len(below.weights)])
    np.testing.assert_allclose(encoder(inputs).values, below(inputs).values, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"layers": 1},
            "StackedEncoder got too few layers. Expected at least 2, the bidirectional "
            "one and one above it, received layers=1. For a single bidirectional layer "
            "use BiEncoder.",
        ),
        (
            {"layers": 0},
            "StackedEncoder got an unusable layers. Expected a positive integer, "
            "received layers=0. ",
        ),
        (
            {"residual_from": 2},
            "StackedEncoder got an unusable residual_from. Expected 3 or more, "
            "received residual_from=2: below the third layer the input is not as "
            "wide as the output. Use None for no residuals.",
        ),
        (
            {"units": -1},
            "StackedEncoder got an unusable units. Expected a positive integer, "
            "received units=-1. ",
        ),
    ],
)
def test_messages(arguments, message):
    with pytest.raises(ValueError) as error:
        StackedEncoder(**{"units": 3, **arguments})
    assert message in str(error.value)
