"""Every encoder of the library against its oracle, at random weights.

Masks have holes, padding on both sides and an empty row; padding holds NaN.
"""

import keras
import numpy as np
import pytest
from keras import tree

import keras_seqattn as ks
from tests.oracles import decoders, encoders
from tests.oracles.makers import MASK, TOLERANCES, check_rows
from tests.oracles.weights import randomize, recurrent_layer
from tests.public import subclasses

UNITS, DEPTH, SOURCE = 3, 4, 5


def stock(cell):
    """The name of a cell, or a template that every layer copies."""
    return lambda dtype: getattr(keras.layers, cell)(UNITS, dtype=dtype)


def named(cell):
    return lambda dtype: cell


CELLS = {
    **{name: named(name) for name in ("lstm", "gru", "gru_paper", "simple")},
    **{name: named(name) for name in ("layer_norm_lstm", "layer_norm_gru")},
    **{name: stock(name) for name in ("LSTMCell", "GRUCell")},
}


# The oracles: (encoder, inputs, mask) -> values, states, mask.


def pairs(encoder, batch):
    both = zip(encoder.forward_layers, encoder.backward_layers, strict=True)
    return [tuple(recurrent_layer(one, batch) for one in pair) for pair in both]


def bi_oracle(encoder, inputs, mask):
    options = {"merge": decoders.join if encoder.merge == "concat" else np.add}
    options["residual_from"] = (encoder.residual_from or 99) - 1  # it counts from 0
    layers = pairs(encoder, len(inputs))
    values, states = encoders.stacked_bidirectional(inputs, layers, mask, **options)
    return values, states, mask


def stacked_oracle(encoder, inputs, mask):
    batch, first = len(inputs), encoder.residual_from or 99
    (bottom,) = pairs(encoder.bottom, batch)
    above = [recurrent_layer(layer, batch) for layer in encoder.upper_layers]
    return *encoders.gnmt(inputs, bottom, above, mask, residual_from=first - 1), mask


def uni_oracle(encoder, inputs, mask):
    layers = [recurrent_layer(layer, len(inputs)) for layer in encoder.recurrent_layers]
    options = {"residual_from": (encoder.residual_from or 99) - 1}
    options["backwards"] = encoder.go_backwards
    values, states = encoders.stacked_one_way(inputs, layers, mask, **options)
    return values, states, mask


def pyramidal_oracle(encoder, inputs, mask):
    levels = [encoder.bottom, *encoder.pyramid]
    layers = [pairs(level, len(inputs))[0] for level in levels]
    return encoders.pyramid(inputs, layers, mask, factor=encoder.factor)


def normalized_oracle(encoder, inputs, mask):
    values, states, reduced = bi_oracle(encoder.encoder, inputs, mask)
    gain, bias = (np.asarray(w) for w in (encoder.norm.gamma, encoder.norm.beta))
    return encoders.normalized(values, gain, bias, mask), states, reduced


def normalized_encoder(units, cell, dtype, **options):
    inner = ks.BiEncoder(units, cell=cell, dtype=dtype, **options)
    return ks.layers.NormalizedEncoder(inner, dropout=0.5, dtype=dtype)


def row(encoder, oracle):
    return lambda **options: (encoder, options, oracle)


L = ks.layers
BI, UNI = row(ks.BiEncoder, bi_oracle), row(L.UniEncoder, uni_oracle)
STACKED = row(L.StackedEncoder, stacked_oracle)
PYRAMIDAL = row(L.PyramidalEncoder, pyramidal_oracle)
ENCODERS = {  # class, options, oracle
    "bi": BI(layers=2),
    "bi_residual": BI(layers=4, residual_from=3),
    "bi_sum": BI(layers=2, merge="sum"),
    "bi_sum_residual": BI(layers=3, merge="sum", residual_from=2),
    "stacked": STACKED(layers=4),
    "stacked_plain": STACKED(layers=3, residual_from=None),
    "uni": UNI(layers=2),
    "uni_backwards": UNI(layers=3, go_backwards=True, residual_from=2),
    "normalized": row(normalized_encoder, normalized_oracle)(layers=2),
    "pyramidal": PYRAMIDAL(layers=2),
    "pyramidal_thirds": PYRAMIDAL(layers=1, factor=3),
}


def check(name, cell, dtype, masked):
    encoder_class, options, oracle = ENCODERS[name]
    encoder = encoder_class(UNITS, cell=CELLS[cell](dtype), dtype=dtype, **options)
    encoder.build((None, None, DEPTH))
    randomize(encoder)
    inputs = np.random.default_rng(3).normal(size=[4, SOURCE, DEPTH]).astype(dtype)
    mask = MASK if masked else None
    if masked:
        inputs[~MASK] = np.nan
    encoded = encoder(inputs, mask=mask)
    values, states, reduced = oracle(encoder, inputs.astype("float64"), mask)
    if reduced is None:
        reduced = np.ones([4, SOURCE], dtype=bool)
    np.testing.assert_array_equal(encoded.mask, reduced)
    assert len(encoded.state) == len(states)
    got = tree.flatten((encoded.values, encoded.state))
    for a, b in zip(got, tree.flatten((values, states)), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=TOLERANCES[dtype])


@pytest.mark.parametrize("cell", ["lstm", "gru_paper"])
@pytest.mark.parametrize("name", ENCODERS)
def test_encoder_equals_oracle(name, cell):
    check(name, cell, "float64", masked=True)


@pytest.mark.product
@pytest.mark.parametrize("masked", [False, True], ids=["real", "padded"])
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("name", ENCODERS)
def test_with_every_cell(name, cell, dtype, masked):
    check(name, cell, dtype, masked)


def test_every_public_encoder_has_an_oracle_test():
    # The second one is not made of recurrent layers.
    public = subclasses(ks.layers.Encoder, ks.layers.NormalizedEncoder)
    public -= {ks.layers.Encoder}
    made = {encoder_class for encoder_class, _, _ in ENCODERS.values()}
    tested = made - {normalized_encoder} | {ks.layers.NormalizedEncoder}
    check_rows("ENCODERS", __file__, public, tested)
