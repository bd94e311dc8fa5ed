"""One trace serves all batch sizes and lengths: no shape needs a new graph.

Counted by a side effect of Python, which happens while tracing only.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.contract.rows import ATTENTIONS, is_first

DEPTH, UNITS = 6, 4
SIZES = [(2, 3, 5), (1, 1, 1), (5, 6, 6)]
L = ks.layers
CELLS = {
    "bahdanau_gru": lambda: L.BahdanauCell(UNITS, ks.BahdanauAttention(UNITS), "gru"),
    "luong": lambda: ks.layers.LuongCell(UNITS, ks.LuongAttention("general")),
    "gnmt": lambda: ks.layers.GNMTCell(UNITS, ks.BahdanauAttention(UNITS), layers=3),
    "context": lambda: ks.layers.ContextCell(UNITS, use_context=True),
    "keras": lambda: ks.layers.ContextCell(UNITS, keras.layers.GRUCell(UNITS)),
}


def attend(attention):
    """A call of an attention, with the arguments of `decode`."""

    def call(inputs, value, inputs_mask, value_mask):
        masks = {"query_mask": inputs_mask, "value_mask": value_mask}
        return attention(inputs, value, return_attention_scores=True, **masks)

    return call


def decode(cell):
    """A call of a decoder, from a state of zeros."""
    decoder = ks.AttentionDecoder(cell)

    def call(inputs, value, inputs_mask, value_mask):
        state = tf.nest.map_structure(
            lambda size: tf.zeros((tf.shape(inputs)[0], size)), cell.state_size
        )
        options = {"inputs_mask": inputs_mask, "value_mask": value_mask}
        options |= {"initial_state": state, "return_attention_scores": True}
        return decoder(inputs, value, **options)

    return call


LAYERS = {
    **{str(x): lambda x=x: attend(x.make()) for x in ATTENTIONS if is_first(x)},
    **{f"decoder_{name}": lambda name=name: decode(CELLS[name]()) for name in CELLS},
}


@pytest.fixture(params=LAYERS, scope="module")
def layer(request):
    called = LAYERS[request.param]()
    called(*batch(*SIZES[0]))
    return called


def batch(rows, target, source):
    rng = np.random.default_rng(rows + 10 * target + 100 * source)
    inputs = rng.standard_normal((rows, target, DEPTH)).astype("float32")
    value = rng.standard_normal((rows, source, DEPTH)).astype("float32")
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
    specs = [tf.TensorSpec((None, None, DEPTH))] * 2
    specs += [tf.TensorSpec((None, None), tf.bool)] * 2
    function, traces = counted(layer, input_signature=specs)
    for size in SIZES:
        traced, eager = function(*batch(*size)), layer(*batch(*size))
        for received, expected in zip(traced, eager, strict=True):
            np.testing.assert_allclose(received, expected, atol=1e-5)
    assert len(traces) == 1


@pytest.mark.parametrize("layer", ["coverage", "decoder_luong"], indirect=True)
def test_without_a_signature_the_second_trace_is_the_last(layer):
    """As Keras traces `fit`: first for the shapes seen, then once for all others."""
    function, traces = counted(layer, reduce_retracing=True)
    function(*batch(*SIZES[0]))
    function(*batch(*SIZES[0]))
    assert len(traces) == 1
    another_size_on_every_axis = (9, 9, 9)  # from here on all of them are None
    for size in [another_size_on_every_axis, *SIZES]:
        function(*batch(*size))
    assert len(traces) == 2
