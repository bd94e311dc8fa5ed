"""Searches write what the whole model says, whatever the model."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ksa
from tests.zoo.models import MODELS, lively, pairs
from tests.zoo.rows import ROWS
from tests.zoo.tasks import TOKENS

MAX_LENGTH = 8
# One of each kind of what a hypothesis carries along: state, heads, stack, feeding.
CARRY = ("bahdanau2015", "chen2018", "gnmt2016", "luong2015")


def some(names, chosen):
    """Those that are chosen run by default, the others with --all."""
    return [
        pytest.param(name, marks=() if name in chosen else pytest.mark.slow)
        for name in names
    ]


pytestmark = pytest.mark.system


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


@pytest.mark.parametrize("name", some(MODELS, ROWS))
def test_greedy_is_the_argmax_of_its_own_output(name):
    model, source = lively(name), pairs().source
    decoded = ksa.decode(model, source, ksa.Greedy(), MAX_LENGTH)
    tokens, lengths = numpy(decoded.tokens)[:, 0], numpy(decoded.lengths)[:, 0]
    assert len(np.unique(tokens)) > 3  # not one word again and again
    start = np.full((len(tokens), 1), TOKENS.start)
    fed = np.concatenate([start, tokens[:, :-1]], axis=1)
    given = {"source": source, "target": fed}
    logits, alignments = model(given, return_attention_scores=True)
    logits = numpy(logits).copy()
    logits[..., [TOKENS.pad, TOKENS.start]] = -np.inf
    written = np.arange(tokens.shape[1]) < lengths[:, None]
    np.testing.assert_array_equal(logits.argmax(-1)[written], tokens[written])
    received, expected = numpy(decoded.alignments)[:, 0], numpy(alignments)
    if expected.ndim == 4:  # heads
        written = np.repeat(written[:, None], expected.shape[1], axis=1)
    np.testing.assert_allclose(received[written], expected[written], atol=1e-5)


@pytest.mark.parametrize("name", some(ROWS, CARRY))
def test_beam_search(name):
    model, source = lively(name), pairs().source
    search = ksa.BeamSearch(4, length_penalty=0.6, n_best=3)
    decoded = ksa.decode(model, source, search, MAX_LENGTH)
    ranking = numpy(decoded.ranking)
    assert np.all(np.diff(ranking, axis=1) <= 0)
    scored = ksa.decoding.score(model, source, decoded.tokens[:, 0])
    np.testing.assert_allclose(scored.scores, decoded.scores[:, 0], atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_under_xla(name):
    """Compiled once for each of the lengths that sentences are padded to."""
    model, source = lively(name), pairs().source
    search = ksa.BeamSearch(2, length_penalty=0.6)
    function = tf.function(
        lambda source: ksa.decode(model, source, search, MAX_LENGTH),
        jit_compile=True,
        autograph=False,
    )
    for bucket in (8, 12, 8):
        padded = np.pad(source, [(0, 0), (0, bucket - source.shape[1])])
        received = function(tf.constant(padded))
        expected = ksa.decode(model, padded, search, MAX_LENGTH)
        size = expected.tokens.shape[-1]
        np.testing.assert_array_equal(received.tokens[..., :size], expected.tokens)
        np.testing.assert_allclose(received.scores, expected.scores, atol=1e-4)
        looks = received.alignments[..., :size, :]
        np.testing.assert_allclose(looks, expected.alignments, atol=1e-5)
        assert not received.tokens.numpy()[..., size:].any()
    assert function.experimental_get_tracing_count() == 2
