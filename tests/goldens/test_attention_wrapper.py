"""The nine rows of `attention_wrapper` with the library's public layers.

Source: tensorflow/addons d208d752, seq2seq/tests/attention_wrapper_test.py. Their own
tolerance is 1e-3, ours 1e-5. The peer's monotonic rows hold what its closed form loses
by its clip, hence form="closed"; (13), (14) as defined are compared with the oracle's.
"""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.goldens import attention_wrapper as wrapper

EMBEDDING, MEMORY_DEPTH = 7, 10


def attention_of(row, form):
    """The mechanism; keys are the memory times ones, the monotonic rows are soft."""
    if row.score == "luong":
        attention = ks.LuongAttention("general", scale=row.normalised)
    else:
        attention = ks.BahdanauAttention(3, normalize=row.normalised)
    if row.monotonic:
        attention = ks.layers.MonotonicAttention(attention, inference="soft", form=form)
    return attention


def decoder_of(row, form="closed"):
    """Updates, then attends, also with Bahdanau's score: the order of the peer."""
    options = {"attentional": wrapper.ATTENTIONAL_UNITS if row.attentional else None}
    options |= {"cell": "lstm", "attentional_activation": None}
    cell = ks.layers.LuongCell(wrapper.UNITS, attention_of(row, form), **options)
    decoder = ks.AttentionDecoder(cell)
    decoder.build((None, None, EMBEDDING), (None, None, MEMORY_DEPTH))
    wrapper.fill(decoder.weights, row)
    forget_gates = np.repeat([0.0, 1.0, 0.0, 0.0], wrapper.UNITS)
    cell.recurrence.cells[0].input_kernel.bias.assign(forget_gates)
    if row.attentional:
        kernel = wrapper.attentional_kernel_context_first()
        cell.attentional_layer.kernel.assign(kernel)
    return decoder


def run(decoder):
    inputs, memory, mask = wrapper.inputs()
    options = {"return_attention_scores": True, "return_state": True}
    options["value_mask"] = mask
    outputs, alphas, state = decoder(inputs, memory.astype("float32"), **options)
    return outputs, alphas, *state.recurrent


FORMS = [(name, "closed") for name in wrapper.ROWS]
FORMS += [(name, "exact") for name, row in wrapper.ROWS.items() if row.monotonic]


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_means(name, form):
    row = wrapper.ROWS[name]
    # The clip in the peer's closed form is felt with Luong's large scores only.
    if row.score == "luong" and form == "exact":
        row = row._replace(means=wrapper.LUONG_MONOTONIC_EXACT)
    wrapper.check(row, *run(decoder_of(row, form)))


def test_outputs_without_attentional_layer():
    decoder = decoder_of(wrapper.ROWS["not_use_attention_layer"])
    for outputs in (run(decoder)[0], tf.function(lambda: run(decoder)[0])()):
        np.testing.assert_allclose(outputs[0, 0], wrapper.FIRST_OUTPUT, atol=2e-6)
        np.testing.assert_allclose(outputs[4, 2], wrapper.LAST_OUTPUT, atol=2e-6)


def test_masking():
    # test_masking: memory of ones, lengths 1..4, queries of ones.
    query = value = np.ones([4, 4, 5], dtype="float32")
    mask = np.tril(np.ones([4, 4], dtype=bool))
    attention = ks.LuongAttention("dot")
    options = {"value_mask": mask, "return_attention_scores": True}
    _, alignment = attention(query, value, **options)
    for t in range(4):
        np.testing.assert_array_equal(np.triu(alignment[:, t], k=1), 0.0)
        expected = mask / np.arange(1, 5)[:, None]
        np.testing.assert_allclose(alignment[:, t], expected, rtol=0, atol=1e-6)
