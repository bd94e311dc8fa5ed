"""One trace serves all batch sizes and lengths: no shape needs a new graph.

Counted by a side effect of Python, which happens while tracing only.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks

DEPTH, MEMORY, UNITS = 5, 6, 4
SIZES = [(2, 3, 5), (4, 3, 5), (2, 7, 5), (2, 3, 9), (1, 1, 1), (5, 8, 2)]

ATTENTIONS = {
    "bahdanau": lambda: ks.BahdanauAttention(UNITS),
    "luong_general": lambda: ks.LuongAttention("general"),
    "luong_location": lambda: ks.LuongAttention("location", maximum_source=10),
    "local": lambda: ks.layers.LocalAttention(ks.LuongAttention("general"), window=2),
    "coverage": lambda: ks.layers.CoverageAttention(
        UNITS
    ),  # this one and the next: a loop
    "monotonic": lambda: ks.layers.MonotonicAttention(ks.BahdanauAttention(UNITS)),
}
CELLS = {
    "bahdanau_gru": lambda: ks.layers.BahdanauCell(
        UNITS, ks.BahdanauAttention(UNITS), "gru"
    ),
    "luong": lambda: ks.layers.LuongCell(UNITS, ks.LuongAttention("general")),
    "gnmt": lambda: ks.layers.GNMTCell(UNITS, ks.BahdanauAttention(UNITS), layers=3),
    "context": lambda: ks.layers.ContextCell(UNITS, use_context=True),
}


class Attend(keras.layers.Layer):
    """An attention over a query, as the decoder under test over its inputs."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def call(self, inputs, value, inputs_mask, value_mask):
        return self.attention(
            inputs,
            value,
            query_mask=inputs_mask,
            value_mask=value_mask,
            return_attention_scores=True,
        )


class Decode(keras.layers.Layer):
    """The decoder under test, from a state of zeros."""

    def __init__(self, cell):
        super().__init__()
        self.decoder = ks.AttentionDecoder(cell)

    def call(self, inputs, value, inputs_mask, value_mask):
        state = tf.nest.map_structure(
            lambda size: tf.zeros((tf.shape(inputs)[0], size)),
            self.decoder.cell.state_size,
        )
        return self.decoder(
            inputs,
            value,
            initial_state=state,
            inputs_mask=inputs_mask,
            value_mask=value_mask,
            return_attention_scores=True,
        )


LAYERS = {
    **{name: (Attend, make) for name, make in ATTENTIONS.items()},
    **{f"decoder_{name}": (Decode, make) for name, make in CELLS.items()},
}


@pytest.fixture(params=LAYERS)
def layer(request):
    wrapper, make = LAYERS[request.param]
    return wrapper(make())


def batch(rows, target, source):
    rng = np.random.default_rng(rows + 10 * target + 100 * source)
    inputs = rng.standard_normal((rows, target, DEPTH)).astype("float32")
    value = rng.standard_normal((rows, source, MEMORY)).astype("float32")
    inputs_mask = np.arange(target) < rng.integers(1, target + 1, (rows, 1))
    value_mask = np.arange(source) < rng.integers(1, source + 1, (rows, 1))
    return [tf.constant(x) for x in (inputs, value, inputs_mask, value_mask)]


def counted(layer, **options):
    traces = []

    @tf.function(**options)
    def forward(*arguments):
        traces.append(len(traces) + 1)  # only while tracing
        return layer(*arguments)

    return forward, traces


def test_one_trace_for_all_sizes(layer):
    layer(*batch(*SIZES[0]))
    function, traces = counted(
        layer,
        input_signature=[
            tf.TensorSpec((None, None, DEPTH)),
            tf.TensorSpec((None, None, MEMORY)),
            tf.TensorSpec((None, None), tf.bool),
            tf.TensorSpec((None, None), tf.bool),
        ],
    )
    for size in SIZES:
        traced, eager = function(*batch(*size)), layer(*batch(*size))
        for received, expected in zip(traced, eager, strict=True):
            np.testing.assert_allclose(received, expected, atol=1e-5)
    assert len(traces) == 1


def test_without_a_signature_the_second_trace_is_the_last(layer):
    """As Keras traces `fit`: first for the shapes seen, then once for all others."""
    layer(*batch(*SIZES[0]))
    function, traces = counted(layer, reduce_retracing=True)
    function(*batch(*SIZES[0]))
    function(*batch(*SIZES[0]))
    assert len(traces) == 1
    another_size_on_every_axis = (9, 9, 9)  # from here on all of them are None
    for size in [another_size_on_every_axis, *SIZES]:
        function(*batch(*size))
    assert len(traces) == 2
