"""The oracles against published numbers and against stock Keras cells."""

import functools

import numpy as np
import pytest

from tests.goldens import attention_wrapper as wrapper
from tests.oracles import alignment, attention, cells, decoders, encoders, scores

ROWS = pytest.mark.parametrize("name", sorted(wrapper.ROWS))


def constant_cell(step, inputs, units, gates, bias_shape, forget_bias=False):
    """Keras's tests: kernel 0.01, recurrent kernel 0.02, bias 0.03."""
    bias = np.full(bias_shape, 0.03)
    if forget_bias:
        bias[units : 2 * units] = 1.0  # unit_forget_bias
    return functools.partial(
        step,
        kernel=np.full([inputs, gates * units], 0.01),
        recurrent_kernel=np.full([units, gates * units], 0.02),
        bias=bias,
    )


def range_sequence(*shape):
    return np.arange(np.prod(shape), dtype="float64").reshape(shape)


# tensorflow/addons d208d752, seq2seq/tests/attention_wrapper_test.py.


def wrapper_attend(row, memory, mask, mode):
    weights = wrapper.score_weights(row)
    if row.score == "luong":
        # (h_t) . (K h_s): "general" with W_a = K transposed.
        weights = {"score": "general", "kernel": weights["key_kernel"].T}
    else:
        weights["score"] = "additive"
    if row.monotonic:
        return attention.bind(attention.monotonic, memory, mask, mode=mode, **weights)
    return attention.bind(attention.luong, memory, mask, **weights)


def run_wrapper(row, mode="parallel"):
    inputs, memory, mask = wrapper.inputs()
    zeros = np.zeros([5, wrapper.UNITS])
    start = np.zeros([5, 8])
    start[:, 0] = 1.0
    fed = wrapper.ATTENTIONAL_UNITS if row.attentional else 10
    kernel = wrapper.attentional_kernel_context_first() if row.attentional else None
    outputs, alphas, (layers, _, _) = decoders.luong(
        inputs,
        [[zeros, zeros]],
        start if row.monotonic else (),
        np.zeros([5, fed]),
        attend=wrapper_attend(row, memory, mask, mode),
        cells=[functools.partial(cells.lstm, **wrapper.lstm_weights(row))],
        attentional_kernel=kernel,
        activation=None,
    )
    return outputs, alphas, *layers[0]


@ROWS
def test_attention_wrapper_means(name):
    row = wrapper.ROWS[name]
    wrapper.check(row, *run_wrapper(row), tolerance=1e-6)


@pytest.mark.parametrize("name", [n for n in wrapper.ROWS if "monotonic" in n])
def test_attention_wrapper_means_by_the_recursion(name):
    # The floor in the peer's closed form is felt with Luong's large scores only.
    row = wrapper.ROWS[name]
    if row.score == "luong":
        row = row._replace(means=wrapper.LUONG_MONOTONIC_EXACT)
    wrapper.check(row, *run_wrapper(row, mode="soft"), tolerance=1e-6)


def test_attention_wrapper_without_attention_layer_in_full():
    outputs = run_wrapper(wrapper.ROWS["not_use_attention_layer"])[0]
    np.testing.assert_allclose(outputs[0, 0], wrapper.FIRST_OUTPUT, atol=2e-6)
    np.testing.assert_allclose(outputs[4, 2], wrapper.LAST_OUTPUT, atol=2e-6)


def test_attention_wrapper_recipe():
    decoder, memory = wrapper.draw()
    np.testing.assert_allclose(decoder.sum(dtype="float64"), -9.902673, atol=1e-5)
    np.testing.assert_allclose(memory.sum(dtype="float64"), 10.106771, atol=1e-5)
    np.testing.assert_allclose(decoder[0, 0, 0], -1.095128, atol=1e-6)
    np.testing.assert_allclose(memory[0, 0, 0], -1.548990, atol=1e-6)
    kernel = wrapper.attentional_kernel()
    np.testing.assert_allclose(kernel.sum(dtype="float64"), 0.1004426, atol=1e-6)
    first = [-0.2785409, 0.4009766, -0.2704615, -0.3098901, -0.4010338, -0.0107132]
    last = [-0.2309449, 0.2051252, -0.4381864, -0.079812, 0.081989, -0.027871]
    np.testing.assert_allclose(kernel[[0, 18]], [first, last], atol=1e-7)


def test_attention_wrapper_kernel_is_tensorflows_philox_draw():
    import tensorflow as tf

    seed, seed2 = wrapper.PHILOX_SEEDS

    @tf.function  # a fresh graph: the op's counter starts at zero
    def draw():
        return tf.raw_ops.RandomUniform(
            shape=[19, 6], dtype=tf.float32, seed=seed, seed2=seed2
        )

    np.testing.assert_array_equal(draw().numpy() * 2.0**23, wrapper.DRAWS)


def test_attention_wrapper_masking():
    # test_masking: memory of ones, lengths 1..4, queries of ones, luong.
    memory, queries = np.ones([4, 4, 5]), np.ones([4, 4, 5])
    mask = np.tril(np.ones([4, 4], dtype=bool))
    attend = attention.bind(attention.luong, memory, mask)
    _, alignments, _ = attention.over_targets(attend, queries)
    for t in range(4):
        assert np.triu(alignments[:, t], k=1).sum() == 0.0
        np.testing.assert_allclose(alignments[:, t].sum(axis=1), 1.0)


# keras-team/keras v3.15.1, layers/attention.

QUERY = np.array([[[1.0, 0.0], [0.0, 1.0]]])
KEY = np.array([[[0.0, 1.0], [1.0, 0.0]]])
VALUE = np.array([[[1.0, 2.0], [3.0, 4.0]]])


def attend_keys(e, mask=None):
    """The tests have key and value apart: align by the key, sum the value."""
    alpha = alignment.masked_softmax(e, mask)
    return attention.context_of(alpha, VALUE, mask), alpha


def test_keras_additive_attention():
    # additive_attention_test.test_attention_correctness: weights one, no projection.
    weights = {"query_kernel": np.eye(2), "key_kernel": np.eye(2), "v": np.ones(2)}
    expected = [[1.727483, 2.727483], [2.272517, 3.272517]]
    alphas = [[0.636258, 0.363742], [0.363742, 0.636258]]
    for t in range(2):
        context, alpha = attend_keys(scores.additive(QUERY[:, t], KEY, **weights))
        np.testing.assert_allclose(context[0], expected[t], atol=1e-6)
        np.testing.assert_allclose(alpha[0], alphas[t], atol=1e-6)


def test_keras_dot_attention():
    # attention_test.test_attention_correctness.
    expected = [[2.462117, 3.462117], [1.537883, 2.537883]]
    alphas = [[0.268941, 0.731059], [0.731059, 0.268941]]
    for t in range(2):
        context, alpha = attend_keys(scores.dot(QUERY[:, t], KEY))
        np.testing.assert_allclose(context[0], expected[t], atol=1e-6)
        np.testing.assert_allclose(alpha[0], alphas[t], atol=1e-6)


def test_keras_attention_mask():
    # attention_test.test_attention_with_mask: the value mask is [True, False].
    for t in range(2):
        e = scores.dot(QUERY[:, t], KEY)
        context, alpha = attend_keys(e, np.array([[True, False]]))
        np.testing.assert_array_equal(alpha, [[1.0, 0.0]])
        np.testing.assert_array_equal(context, VALUE[:, 0])


def test_cyberzhg_scaled_dot():
    # CyberZHG/keras-self-attention f3bf21d, test_sample: row 2 of the output.
    embedding = np.array(
        [
            [0.1, 0.2, 0.3, 0.4, 0.5],
            [0.2, 0.3, 0.4, 0.6, 0.5],
            [0.4, 0.7, 0.2, 0.6, 0.9],
            [0.3, 0.5, 0.8, 0.9, 0.1],
        ]
    )
    ids = np.array([1, 2, 3, 1, 0])
    value = embedding[ids][None]
    context, _, _ = attention.luong(
        value[:, 2], value, (ids > 0)[None], score="scaled_dot"
    )
    expected = [0.27883747, 0.45767492, 0.47448885, 0.69199574, 0.47368336]
    np.testing.assert_allclose(context[0], expected, atol=1e-7)


# keras-team/keras, keras/src/layers/rnn: gru_test.py at 03313da2, lstm_test.py at
# 12ada9a3, bidirectional_test.py at 17dff27b, rnn_test.py at v3.15.1.


def test_keras_rnn_masking():
    # rnn_test.test_masking: a cell of ones, h = x W + h U.
    def cell(x, h):
        return x @ np.ones([3, 2]) + h @ np.ones([2, 2])

    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], dtype=bool)
    layer = (cell, np.zeros([2, 2]))
    outputs, state = encoders.one_way(range_sequence(2, 4, 3), layer, mask)
    np.testing.assert_array_equal(outputs[..., 0], [[3, 18, 57, 0], [39, 126, 0, 0]])
    np.testing.assert_array_equal(state[:, 1], [57, 126])


def test_keras_lstm_masking():
    # lstm_test.test_masking with zero_output_for_mask.
    cell = constant_cell(cells.lstm, 3, 2, 4, [8], forget_bias=True)
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], dtype=bool)
    layer = (cell, [np.zeros([2, 2])] * 2)
    outputs, state = encoders.one_way(range_sequence(2, 4, 3), layer, mask)
    expected = [[0.01588910, 0.05552048, 0.11755939, 0], [0.14185596, 0.28556206, 0, 0]]
    for unit in range(2):
        np.testing.assert_allclose(outputs[..., unit], expected, atol=1e-7)
        np.testing.assert_allclose(
            state[0][:, unit], [0.11755939, 0.28556206], atol=1e-7
        )


def test_keras_lstm_initial_state():
    # lstm_test.test_pass_initial_state, forwards and go_backwards.
    cell = constant_cell(cells.lstm, 3, 2, 4, [8], forget_bias=True)
    layer = (cell, [range_sequence(2, 2)] * 2)
    for backwards, expected in (
        (False, [[0.20574439, 0.3558822], [0.64930826, 0.66276]]),
        (True, [[0.13281618, 0.2790356], [0.5839337, 0.5992567]]),
    ):
        _, (h, _) = encoders.one_way(
            range_sequence(2, 4, 3), layer, backwards=backwards
        )
        np.testing.assert_allclose(h, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("step", "bias_shape", "expected"),
    [
        (cells.gru, [2, 9], [0.5217289, 0.6371659, 0.39384964]),
        (cells.gru_reset_before, [9], [0.51447755, 0.6426879, 0.40208298]),
    ],
)
def test_keras_gru_reset_after_and_before(step, bias_shape, expected):
    # gru_test.test_correctness, reset_after True and False.
    cell = constant_cell(step, 4, 3, 3, bias_shape)
    _, h = encoders.one_way(range_sequence(3, 6, 4), (cell, np.zeros([3, 3])))
    for unit in range(3):
        np.testing.assert_allclose(h[:, unit], expected, atol=1e-6)


def test_keras_bidirectional_gru_masking():
    # bidirectional_test.test_masking: holes inside the sequence.
    cell = constant_cell(cells.gru, 3, 2, 3, [2, 6])
    layer = (cell, np.zeros([2, 2]))
    mask = np.array([[1, 1, 0, 1], [1, 0, 0, 1]], dtype=bool)
    _, state = encoders.bidirectional(range_sequence(2, 4, 3), layer, layer, mask)
    expected = [[0.19393763, 0.11669192], [0.30818558, 0.28380975]]
    np.testing.assert_allclose(state[:, [0, 2]], expected, atol=1e-6)


def test_keras_bidirectional_simple_and_gru():
    # bidirectional_test.test_correctness: last states; the sum of both directions.
    values = range_sequence(2, 3, 4)
    layer = (constant_cell(cells.simple, 4, 2, 1, [2]), np.zeros([2, 2]))
    _, state = encoders.bidirectional(values, layer, layer)
    expected = [[0.39687276, 0.10004295], [0.7237238, 0.53391594]]
    np.testing.assert_allclose(state[:, [0, 2]], expected, atol=1e-6)
    layer = (constant_cell(cells.gru, 4, 2, 3, [2, 6]), np.zeros([2, 2]))
    outputs, _ = encoders.bidirectional(values, layer, layer)
    expected = [[0.20937867, 0.34462988, 0.40290534], [0.59829646, 0.6734641, 0.647967]]
    np.testing.assert_allclose(
        outputs[..., 0] + outputs[..., 2], expected, rtol=0, atol=1e-6
    )


@pytest.mark.parametrize(
    ("step", "name", "options", "bias_shape"),
    [
        (cells.simple, "SimpleRNNCell", {}, [5]),
        (cells.gru, "GRUCell", {"reset_after": True}, [2, 15]),
        (cells.gru_reset_before, "GRUCell", {"reset_after": False}, [15]),
        (cells.lstm, "LSTMCell", {}, [20]),
    ],
)
def test_cells_are_stock_keras_cells(step, name, options, bias_shape):
    # Constant kernels cannot tell the order of the gates: random ones can.
    import keras

    random = np.random.default_rng(0)
    cell = getattr(keras.layers, name)(5, dtype="float64", **options)
    cell.build((3, 4))
    weights = {
        "kernel": random.normal(size=cell.kernel.shape),
        "recurrent_kernel": random.normal(size=cell.recurrent_kernel.shape),
        "bias": random.normal(size=bias_shape),
    }
    cell.set_weights(list(weights.values()))
    x = random.normal(size=[3, 4])
    states = [random.normal(size=[3, 5]) for _ in range(2 if name[0] == "L" else 1)]
    _, expected = cell(x, list(states))
    got = step(x, states if len(states) == 2 else states[0], **weights)
    got = got if isinstance(got, list) else [got]
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, np.asarray(b), atol=1e-12)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 7])
def test_location_features_are_keras_conv1d_same(width):
    import keras

    random = np.random.default_rng(width)
    alpha, filters = random.random([2, 5]), random.normal(size=[width, 1, 3])
    expected = keras.ops.conv(alpha[..., None], filters, strides=1, padding="same")
    np.testing.assert_allclose(
        scores.location_features(alpha, filters), np.asarray(expected), atol=1e-6
    )
