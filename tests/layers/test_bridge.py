import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree

from keras_seqattn.layers.bi_encoder import BiEncoder
from keras_seqattn.layers.bridge import CopyBridge, DenseBridge, ZeroBridge
from keras_seqattn.layers.stacked_encoder import StackedEncoder
from keras_seqattn.types import Encoded
from tests.layers.encoder_cases import MASKS, randomize, sequence

STATE_SIZES = [5, [5, 6], [[5, 6], [7, 8]], [5, [6, 7]]]


def encode(cell="lstm", mask=None, dtype="float64", **kwargs):
    encoder = BiEncoder(3, cell=cell, dtype=dtype, **kwargs)
    encoder.build((None, None, 4))
    randomize(encoder)
    return encoder(sequence(), mask=mask)


def shapes(nest):
    return tree.map_structure(lambda x: tuple(x.shape), nest)


def bridges(state_size):
    return [
        ZeroBridge(state_size),
        *(DenseBridge(state_size, inputs=i) for i in ("state", "backward", "mean")),
    ]


@pytest.mark.parametrize("state_size", STATE_SIZES, ids=str)
@pytest.mark.parametrize("which", range(4))
def test_state_has_the_structure_asked_for(state_size, which):
    bridge, encoded = bridges(state_size)[which], encode(dtype="float32")
    expected = tree.map_structure(lambda size: (3, size), state_size)
    assert shapes(bridge(encoded)) == expected
    assert shapes(bridge.compute_output_spec(encoded)) == expected
    unknown = Encoded((None, None, 6), (None, None), [[(None, 6), (None, 6)]])
    expected = tree.map_structure(lambda size: (None, size), state_size)
    assert bridge.compute_output_shape(unknown) == expected


@pytest.mark.parametrize(
    "cell",
    [
        keras.layers.GRUCell(5),
        keras.layers.LSTMCell(5),
        keras.layers.StackedRNNCells(
            [keras.layers.LSTMCell(5), keras.layers.LSTMCell(5)]
        ),
    ],
)
def test_state_starts_a_stock_layer(cell):
    state = DenseBridge(cell.state_size)(encode(dtype="float32"))
    layer = keras.layers.RNN(cell)
    output = layer(sequence(depth=2).astype("float32"), initial_state=state)
    assert tuple(output.shape) == (3, 5)


def test_zero_bridge_gives_zeros_in_the_compute_dtype():
    (state,) = ZeroBridge([4], dtype="mixed_float16")(encode())
    assert state.dtype == tf.float16
    np.testing.assert_array_equal(state, np.zeros([3, 4]))


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_copy_bridge_unwraps_one_layer(cell):
    encoded = encode(cell)
    copied = CopyBridge(dtype="float64")(encoded)
    tree.assert_same_structure(copied, encoded.state[0])
    tree.map_structure(np.testing.assert_array_equal, copied, encoded.state[0])


@pytest.mark.parametrize(
    ("layers", "expected"), [(None, [0, 1, 2]), ([-1], 2), ([2, 0], [2, 0]), ([1], 1)]
)
def test_copy_bridge_chooses_layers(layers, expected):
    encoded = encode(layers=3)
    bridge = CopyBridge(layers, dtype="float64")
    copied = bridge(encoded)
    wanted = tree.map_structure(lambda i: encoded.state[i], expected)
    tree.assert_same_structure(copied, wanted)
    tree.map_structure(np.testing.assert_array_equal, copied, wanted)
    assert shapes(bridge.compute_output_spec(encoded)) == shapes(wanted)


def set_kernels(bridge, seed=3):
    """Random kernels, of which the first projection's comes back."""
    randomize(bridge, seed)
    return [np.asarray(w) for w in bridge.projections[0].get_weights()]


def test_dense_bridge_reads_all_states():
    encoded = encode(layers=2)
    bridge = DenseBridge([5, 6], dtype="float64")
    bridge(encoded)
    kernel, bias = set_kernels(bridge)
    flat = np.concatenate([np.asarray(s) for s in tree.flatten(encoded.state)], -1)
    received, _ = bridge(encoded)
    np.testing.assert_allclose(received, np.tanh(flat @ kernel + bias), atol=1e-12)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_dense_bridge_of_bahdanau(mask):
    # Bahdanau et al. 2015, A.2.2: s_0 = tanh(W_s bw_1), bw_1 at the first real word.
    encoded = encode("gru", mask=mask)
    bridge = DenseBridge(5, inputs="backward", use_bias=False, dtype="float64")
    bridge(encoded)
    (kernel,) = set_kernels(bridge)
    first = np.zeros(3, int) if mask is None else np.argmax(mask, axis=1)
    bw = np.asarray(encoded.values)[np.arange(3), first, 3:]
    np.testing.assert_allclose(bridge(encoded), np.tanh(bw @ kernel), atol=1e-12)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_dense_bridge_of_the_mean(mask):
    encoded = encode(mask=mask)
    bridge = DenseBridge(5, inputs="mean", activation=None, dtype="float64")
    bridge(encoded)
    kernel, bias = set_kernels(bridge)
    real = np.ones([3, 5], bool) if mask is None else mask
    means = [
        np.asarray(values)[row].mean(axis=0) if row.any() else np.zeros(6)
        for values, row in zip(encoded.values, real, strict=True)
    ]
    np.testing.assert_allclose(bridge(encoded), means @ kernel + bias, atol=1e-12)


def test_mean_does_not_see_padding():
    encoded, mask = encode(mask=MASKS["right-padded"]), MASKS["right-padded"]
    poisoned = np.where(mask[..., None], encoded.values, np.nan)
    bridge = DenseBridge(5, inputs="mean", dtype="float64")
    expected = bridge(encoded)
    received = bridge(encoded._replace(values=tf.constant(poisoned)))
    np.testing.assert_array_equal(received, expected)


def test_plain_lists_are_taken_for_encoded():
    encoded = encode(dtype="float32")
    bridge = DenseBridge(5)
    bridge.build([[None, None, 6], [None, None], [[[None, 6], [None, 6]]]])
    expected = bridge(encoded)
    np.testing.assert_array_equal(bridge([*encoded]), expected)
    tree.map_structure(
        np.testing.assert_array_equal,
        CopyBridge()([*encoded]),
        CopyBridge()(encoded),
    )


@pytest.mark.parametrize(
    "bridge",
    [
        ZeroBridge([5, 6], name="bridge"),
        CopyBridge([-1, 0], name="bridge"),
        DenseBridge(
            [[5, 6]],
            inputs="mean",
            activation="relu",
            use_bias=False,
            kernel_initializer="he_normal",
            name="bridge",
        ),
    ],
)
def test_config_round_trip(bridge):
    config = bridge.get_config()
    copy = type(bridge).from_config(config)
    assert copy.get_config() == config
    bridge(encode(layers=2, dtype="float32"))
    assert bridge.get_config() == config


def test_kernels_differ_from_one_initializer():
    bridge = DenseBridge([5, 5], kernel_initializer=keras.initializers.GlorotNormal())
    bridge(encode(dtype="float32"))
    a, b = (p.kernel for p in bridge.projections)
    assert not np.allclose(a, b)


def test_quantized_bridge_reloads(tmp_path):
    inputs = keras.Input((None, 4))
    encoded = BiEncoder(4)(inputs)
    model = keras.Model(inputs, DenseBridge([8, 8])(encoded))
    model.get_layer(index=-1).projections[0].quantize("int8")
    expected = model(sequence().astype("float32"))
    model.save(tmp_path / "model.keras")
    reloaded = keras.models.load_model(tmp_path / "model.keras")
    for a, b in zip(reloaded(sequence()), expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ZeroBridge(0),
            "ZeroBridge got an unusable state_size. Expected a positive integer, "
            "received state_size=0. ",
        ),
        (
            lambda: ZeroBridge([]),
            "ZeroBridge got an unusable state_size. Expected a positive integer, ",
        ),
        (
            lambda: DenseBridge([4, -1]),
            "DenseBridge got an unusable state_size. Expected a positive integer, "
            "received state_size=-1. ",
        ),
        (
            lambda: DenseBridge(4, inputs="forward"),
            "DenseBridge got an unknown inputs. Expected one of backward, mean, "
            "state, received 'forward'. Check the spelling.",
        ),
        (
            lambda: CopyBridge([2])(encode(layers=2)),
            "CopyBridge got layers that the encoder does not have. Expected indices "
            "from -2 to 1, received layers=[2]. Count from 0 at the bottom, or use "
            "None for all layers.",
        ),
        (
            lambda: DenseBridge(4)(encode().values),
            "DenseBridge got something else than what an encoder returns. Expected "
            "Encoded(values, mask, state), received (3, 5, 6). Pass the result of the "
            "encoder whole, not one of its parts.",
        ),
        (
            lambda: ZeroBridge(4)(encode().values),
            "ZeroBridge got something else than what an encoder returns. Expected ",
        ),
        (
            lambda: DenseBridge(4, inputs="backward")(
                Encoded(np.ones([2, 3, 5]), np.ones([2, 3], bool), [np.ones([2, 5])])
            ),
            "DenseBridge got a state whose size is odd. Expected the forward and "
            "backward halves of a bidirectional layer, received size 5. Use "
            'inputs="state" after an encoder that does not concatenate them.',
        ),
    ],
)
def test_messages(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert message in str(error.value)


def test_stacked_encoder_reaches_decoders_of_its_upper_layers():
    encoder = StackedEncoder(3, layers=3)
    encoded = encoder(sequence().astype("float32"), mask=MASKS["empty row"])
    state = CopyBridge([1, 2])(encoded)
    assert shapes(state) == [[(3, 3), (3, 3)]] * 2
