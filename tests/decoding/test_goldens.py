"""Published values, with our conventions where the sources disagree.

The end token counts in a length (as in TFA's state; not in ONMT's, nor in GS's). A
finished hypothesis is padded; with pad = end that is what TFA returns.
"""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.decoding import hypotheses as beam
from keras_seqattn.decoding.candidates import TokenRules, find_candidates
from keras_seqattn.decoding.decoded import trace_back
from tests.decoding.fakes import Speller

# The peers' toy vocabularies have no padding and no start; their end is 0.
TOKENS = ks.types.SpecialTokens(pad=0, start=9, end=0, unknown=9)
NINF = -np.inf


def numbers(text):
    return np.array([row.split() for row in text.split("/")], "int32")


def followed(values, parents, lengths):
    """`values` `[target, beam]` of one sentence along the paths.

    Ours goes back from the last step that was taken, which is the longest length.
    """
    steps = tf.constant(np.max(lengths))
    places = trace_back(tf.constant(parents)[:, None], steps, lengths.size)[1:]
    return tf.gather(tf.constant(values)[:, None], places, batch_dims=2)[:, 0].numpy()


# Values, parents, lengths, and the values along the paths. After the length of a
# hypothesis the peer returns what was there; here it is padding.
PATHS = {
    "test_gather_tree": (
        *("1 2 3/4 5 6/7 8 9", "0 0 0/0 1 1/2 1 2", "3 3 3"),
        "2 2 2/6 5 6/7 8 9",
    ),
    "test_gather_tree, second sentence": (
        *("2 3 4/5 6 7/8 9 10", "0 0 0/1 2 0/2 1 1", "3 3 3"),
        "2 4 4/7 6 6/8 9 10",
    ),
    "parents behind the last step are not looked at": (
        *("1 2 3/4 5 6/7 8 9/10 10 10", "0 0 0/0 1 1/2 1 2/-1 -1 -1", "3 3 3"),
        "2 2 2/6 5 6/7 8 9/0 0 0",
    ),
    "test_gather_tree_from_array": (
        *("2 3 4/5 6 7/8 9 10/11 12 0", "0 0 0/1 1 0/2 0 1/0 1 0", "4 4 3"),
        "2 3 2/7 5 7/8 9 8/11 12 0",
    ),
    "test_gather_tree_from_array_complex_trajectory": (
        "25 12 114 89 97/9 91 64 11 162/34 34 34 34 34/2 4 2 2 4/2 3 6 2 2/2 2 2 3 2"
        "/2 2 2 2 2",
        "0 0 0 0 0/0 0 0 0 0/0 1 2 3 4/0 0 1 2 1/0 1 1 2 3/0 1 3 1 2/0 1 2 3 4",
        "4 6 4 7 6",
        "25 25 25 25 25/9 9 91 9 9/34 34 34 34 34/2 4 2 4 4/0 3 0 3 6/0 2 0 3 2"
        "/0 0 0 2 0",
    ),
}


@pytest.mark.parametrize("name", PATHS)
def test_paths(name):
    # TFA beam_search_decoder_test and beam_search_ops_test.
    values, parents, lengths, expected = map(numbers, PATHS[name])
    real = np.arange(len(values))[:, None] < lengths
    for _ in range(3):  # with more axes: test_gather_tree_from_array_1d and _2d
        received = followed(values, parents, lengths)
        np.testing.assert_array_equal(np.where(real, received, 0), expected)
        values = np.stack([values, values + 1], axis=-1)
        real = real[..., None]
        expected = np.where(real, np.stack([expected, expected + 1], axis=-1), 0)


def test_a_parent_that_is_not_there_raises():
    # TFA beam_search_ops_test: a parent of -1 inside the length.
    parents = tf.constant([[0, 0, 0], [0, -1, 1], [2, 1, 2]])[:, None]
    with pytest.raises(tf.errors.InvalidArgumentError):
        trace_back(parents, tf.constant(3), 3)


def small_logits():
    logits = np.full([2, 3, 5], 0.0001, "float32")
    logits[0, 0, 2], logits[0, 0, 3] = 1.9, 2.1
    logits[0, 1, 3], logits[0, 1, 4] = 3.1, 0.9
    logits[1, 0, 1], logits[1, 1, 2] = 0.5, 2.7
    logits[1, 2, 2], logits[1, 2, 3] = 10.0, 0.2
    return logits


def state(log_probs, lengths, finished):
    tokens, log_probs = tf.zeros(np.shape(lengths), tf.int32), np.float32(log_probs)
    values = map(tf.constant, (log_probs, np.int32(lengths), finished))
    return beam.Hypotheses(tokens, *values, coverage=(), history=())


def step(search, logits, now):
    at = beam.StepInfo(tf.constant(2), mask=None, seed=None)
    rules = TokenRules(search, TOKENS, None)
    candidates = find_candidates(tf.constant(logits), search.best_of, now, at.t, rules)
    choice = search.choose(candidates, now, at)
    limits = tf.fill([len(logits)], 100)
    return choice, beam.advance(now, choice, at.t, limits, TOKENS)


EQUAL = np.full([2, 3], -np.log(3))  # log-probabilities


@pytest.mark.parametrize("name", ["test_beam_step", "test_step_with_eos"])
def test_step(name):
    # TFA; the log-probabilities are derived from its inputs. The finished hypothesis
    # keeps length 1 and its log-probability.
    logits, lengths, finished = small_logits(), np.full([2, 3], 2), np.zeros([2, 3])
    tokens, parents = [[3, 3, 2], [2, 2, 1]], [[1, 0, 0], [2, 1, 0]]
    log_probs = [[-1.318522, -1.880748, -2.080748], [-1.098804, -1.336722, -2.330112]]
    if name == "test_step_with_eos":
        logits[1, 1, 2], logits[1, 2, 2] = 5.7, 1.0
        lengths[0, 1], lengths[1, 2], finished[0, 1], finished[1, 2] = 1, 1, 1, 1
        tokens, parents = [[0, 3, 2], [2, 0, 1]], [[1, 0, 0], [1, 2, 0]]
        log_probs[0][0], log_probs[1][:2] = -1.098612, [-1.111909, -1.098612]
    now = state(EQUAL, lengths, finished.astype(bool))
    choice, new = step(ks.BeamSearch(3, length_penalty=0.6), logits, now)
    np.testing.assert_array_equal(new.tokens, tokens)
    np.testing.assert_array_equal(choice.parents, parents)
    ended = np.array(tokens) == TOKENS.end
    np.testing.assert_array_equal(new.finished, ended)
    np.testing.assert_array_equal(new.lengths, np.where(ended, 1, 3))
    np.testing.assert_allclose(new.log_probs, log_probs, rtol=0, atol=2e-6)


def test_large_beam_step():
    # TFA: test_large_beam_step: 8 places, 5 tokens, a single hypothesis to begin with.
    search = ks.BeamSearch(8, length_penalty=0.6)
    now = beam.initial_hypotheses(search, 2, None, 4, TOKENS)
    lengths = np.zeros([2, 8], "int32")
    lengths[:, 0] = 2
    logits = np.full([2, 8, 5], 0.0001, "float32")
    logits[:, :3] = small_logits()
    choice, new = step(search, logits, now._replace(lengths=tf.constant(lengths)))
    assert new.tokens[0, 0] == 3 and new.tokens[0, 1] == 2 and new.tokens[1, 0] == 1
    np.testing.assert_array_equal(new.log_probs[:, 5:], np.full([2, 3], NINF))
    assert np.all(new.log_probs[:, :5] > NINF) and np.all(new.lengths[:, :5] == 3)
    np.testing.assert_array_equal(new.lengths[:, 5:], np.zeros([2, 3]))
    assert np.all(new.finished[:, 5:]) and not np.any(choice.parents[:, :5])


def test_length_penalty_and_length_after_a_new_end():
    # GS beam_search_test: length_penalty 0.6.
    received = ks.decoding.length_penalty(np.array([1, 2, 3]), 0.6)
    np.testing.assert_allclose(received, [1.0, 1.0969026, 1.1884016], atol=2e-7)
    np.testing.assert_array_equal(ks.decoding.length_penalty(np.array([7]), 0.0), 1.0)
    # GS test_step_with_new_eos has length 2 after the end token, TFA 3: ours counts it.
    now = state(EQUAL, np.full([2, 3], 2), np.zeros([2, 3], bool))
    logits = small_logits()
    logits[0, 1, 0] = 9.0
    _, new = step(ks.BeamSearch(3, length_penalty=0.6), logits, now)
    assert new.tokens[0, 0] == TOKENS.end and new.finished[0, 0]
    assert new.lengths[0, 0] == 3


@pytest.mark.parametrize(
    "search", [ks.Greedy(), ks.BeamSearch(), ks.decoding.Sample(top_k=1)], ids=str
)
def test_scripted_logits(search):
    # ONMT decoding_test: testGreedyDecode, with maximum and minimum iterations. Its
    # lengths leave the end token out, ours count it: [4, 3] for its [3, 2]. It pads
    # with the end token, here with padding. (OpenNMT-tf #188: several end tokens.)
    model, script = Speller(), np.array([[4, 5, 6, 2], [3, 8, 2, 8]])
    decoded = ks.decode(model, script, search, max_length=250)
    np.testing.assert_array_equal(decoded.tokens, [[[4, 5, 6, 2]], [[3, 8, 2, 0]]])
    np.testing.assert_array_equal(decoded.lengths, [[4], [3]])

    decoded = ks.decode(model, script, search, max_length=2)
    np.testing.assert_array_equal(decoded.tokens, [[[4, 5]], [[3, 8]]])
    np.testing.assert_array_equal(decoded.lengths, [[2], [2]])
