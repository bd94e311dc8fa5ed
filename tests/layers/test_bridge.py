import functools

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree

from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.bridge import CopyBridge, DenseBridge, ZeroBridge
from keras_seqattn.layers.stacked_encoder import StackedEncoder
from keras_seqattn.testing.contract import save_and_load
from keras_seqattn.types import Encoded
from tests.layers.encoder_cases import MASKS, built, randomize, sequence

STATE_SIZES = [5, [5, 6], [[5, 6], [7, 8]], [5, [6, 7]]]
BRIDGES = {
    "zero": ZeroBridge,
    **{
        name: functools.partial(DenseBridge, inputs=name)
        for name in ("state", "backward", "mean")
    },
}


def encode(cell="lstm", mask=None, **options):
    make = functools.partial(BiEncoder, 3, cell=cell, dtype="float64")
    return built(make, **options)(sequence().astype("float64"), mask=mask)


def shapes(nest):
    return tree.map_structure(lambda x: tuple(x.shape), nest)


@pytest.fixture(scope="module")
def encoded():
    return BiEncoder(3)(sequence())


@pytest.mark.parametrize("state_size", STATE_SIZES, ids=str)
@pytest.mark.parametrize("name", BRIDGES)
def test_state_has_the_structure_asked_for(encoded, name, state_size):
    bridge = BRIDGES[name](state_size)
    expected = tree.map_structure(lambda size: (3, size), state_size)
    assert shapes(bridge(encoded)) == expected
    assert shapes(bridge.compute_output_spec(encoded)) == expected
    unknown = Encoded((None, None, 6), (None, None), [[(None, 6), (None, 6)]])
    expected = tree.map_structure(lambda size: (None, size), state_size)
    assert bridge.compute_output_shape(unknown) == expected


def test_zero_bridge_gives_zeros_in_the_compute_dtype(encoded):
    (state,) = ZeroBridge([4], dtype="mixed_float16")(encoded)
    assert state.dtype == tf.float16
    np.testing.assert_array_equal(state, np.zeros([3, 4]))


@pytest.mark.parametrize(
    ("cell", "depth", "layers", "expected"),
    [
        ("lstm", 1, None, 0),  # one layer is no list
        ("gru", 1, None, 0),
        ("lstm", 3, None, [0, 1, 2]),
        ("lstm", 3, [-1], 2),
        ("lstm", 3, [2, 0], [2, 0]),
        ("lstm", 3, [1], 1),
    ],
)
def test_copy_bridge_chooses_layers(cell, depth, layers, expected):
    encoded = encode(cell, layers=depth)
    bridge = CopyBridge(layers, dtype="float64")
    copied = bridge(encoded)
    wanted = tree.map_structure(lambda i: encoded.state[i], expected)
    tree.assert_same_structure(copied, wanted)
    tree.map_structure(np.testing.assert_array_equal, copied, wanted)
    assert shapes(bridge.compute_output_spec(encoded)) == shapes(wanted)


def test_copy_bridge_reaches_the_upper_layers_of_a_stacked_encoder():
    encoded = StackedEncoder(3, layers=3)(sequence(), mask=MASKS["empty row"])
    assert shapes(CopyBridge([1, 2])(encoded)) == [[(3, 3), (3, 3)]] * 2


def projected(encoded, state_size=5, **options):
    """The first state of a dense bridge; kernel and bias of its projection."""
    bridge = DenseBridge(state_size, dtype="float64", **options)
    bridge(encoded)
    randomize(bridge, seed=3)
    return tree.flatten(bridge(encoded))[0], *bridge.projections[0].get_weights()


def test_dense_bridge_reads_all_states():
    encoded = encode(layers=2)
    received, kernel, bias = projected(encoded, [5, 6])
    flat = np.concatenate([np.asarray(s) for s in tree.flatten(encoded.state)], -1)
    np.testing.assert_allclose(received, np.tanh(flat @ kernel + bias), atol=1e-12)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_dense_bridges_of_bahdanau_and_of_the_mean(mask):
    # Bahdanau et al. 2015, A.2.2: s_0 = tanh(W_s bw_1), bw_1 at the first real word.
    encoded = encode("gru", mask=mask)
    received, kernel = projected(encoded, inputs="backward", use_bias=False)
    first = np.zeros(3, int) if mask is None else np.argmax(mask, axis=1)
    bw = np.asarray(encoded.values)[np.arange(3), first, 3:]
    np.testing.assert_allclose(received, np.tanh(bw @ kernel), atol=1e-12)
    # The padding may hold NaN.
    real = np.ones([3, 5], bool) if mask is None else mask
    encoded = encode(mask=mask)
    means = [
        np.asarray(values)[row].mean(axis=0) if row.any() else np.zeros(6)
        for values, row in zip(encoded.values, real, strict=True)
    ]
    values = tf.constant(np.where(real[..., None], encoded.values, np.nan))
    received, kernel, bias = projected(
        encoded._replace(values=values), inputs="mean", activation=None
    )
    np.testing.assert_allclose(received, means @ kernel + bias, atol=1e-12)


def test_plain_lists_are_taken_for_encoded(encoded):
    bridge = DenseBridge(5)
    bridge.build([[None, None, 6], [None, None], [[[None, 6], [None, 6]]]])
    np.testing.assert_array_equal(bridge([*encoded]), bridge(encoded))
    tree.map_structure(
        np.testing.assert_array_equal, CopyBridge()([*encoded]), CopyBridge()(encoded)
    )


def test_a_partly_quantized_bridge_reloads():
    inputs = keras.Input((None, 4))
    model = keras.Model(inputs, DenseBridge([8, 8])(BiEncoder(4)(inputs)))
    model.get_layer(index=-1).projections[0].quantize("int8")
    expected, received = model(sequence()), save_and_load(model)(sequence())
    tree.map_structure(np.testing.assert_array_equal, received, expected)
