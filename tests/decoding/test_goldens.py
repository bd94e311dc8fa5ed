"""Published values, with our conventions where the sources disagree.

The end token counts in a length (as in TFA's state; not in ONMT's, nor in GS's). A
finished hypothesis is padded; with pad = end that is what TFA returns.
"""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.decoding.backtrace import trace_back
from keras_seqattn.decoding.candidates import find_candidates
from keras_seqattn.decoding.constraints import TokenRules
from keras_seqattn.decoding.hypotheses import Hypotheses, StepInfo, advance
from keras_seqattn.decoding.search import initial_hypotheses
from tests.decoding.fakes import Speller

# The peers' toy vocabularies have no padding and no start; their end is 0.
TOKENS = ks.types.SpecialTokens(pad=0, start=9, end=0, unknown=9)
NINF = -np.inf


# Back through the beams ---------------------------------------------------------------


def followed(values, parents, lengths):
    """`values` `[target, beam]` of one sentence along the paths, 0 after each length.

    Ours goes back from the last step that was taken, which is the longest length.
    """
    steps = np.max(lengths)
    parents = tf.constant(parents)[:, None]
    places = trace_back(parents, tf.constant(steps), len(lengths))[1:]
    values = tf.gather(tf.constant(values)[:, None], places, batch_dims=2)[:, 0].numpy()
    real = np.arange(len(values))[:, None] < lengths
    return np.where(real.reshape(*real.shape, *[1] * (values.ndim - 2)), values, 0)


@pytest.mark.parametrize(
    "ids, parents, expected",
    [
        (
            [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
            [[0, 0, 0], [0, 1, 1], [2, 1, 2]],
            [[2, 2, 2], [6, 5, 6], [7, 8, 9]],
        ),
        (
            [[2, 3, 4], [5, 6, 7], [8, 9, 10]],
            [[0, 0, 0], [1, 2, 0], [2, 1, 1]],
            [[2, 4, 4], [7, 6, 6], [8, 9, 10]],
        ),
    ],
)
def test_gather_tree(ids, parents, expected):
    # TFA beam_search_decoder_test: test_gather_tree.
    np.testing.assert_array_equal(followed(ids, parents, [3, 3, 3]), expected)


def test_gather_tree_stops_at_the_last_step():
    # TFA beam_search_ops_test: length 3 of 4; the fourth row is the end token there,
    # padding here; its parents are not looked at.
    ids = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 10, 10]]
    parents = [[0, 0, 0], [0, 1, 1], [2, 1, 2], [-1, -1, -1]]
    received = followed(ids, parents, [3, 3, 3])
    np.testing.assert_array_equal(received[:3], [[2, 2, 2], [6, 5, 6], [7, 8, 9]])
    assert not received[3].any()


def test_gather_tree_raises_for_a_parent_that_is_not_there():
    # TFA beam_search_ops_test: a parent of -1 inside the length.
    parents = tf.constant([[0, 0, 0], [0, -1, 1], [2, 1, 2]])[:, None]
    with pytest.raises(tf.errors.InvalidArgumentError):
        trace_back(parents, tf.constant(3), 3)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_gather_tree_from_array(depth):
    # TFA: test_gather_tree_from_array_scalar, _1d, _2d: this is how alignments move.
    rows = [
        (
            [[1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 0, 0]],
            [[0, 0, 0], [0, 1, 1], [2, 1, 2], [-1, -1, -1]],
            [3, 3, 3],
            [[2, 2, 2], [6, 5, 6], [7, 8, 9], [0, 0, 0]],
        ),
        (
            [[2, 3, 4], [5, 6, 7], [8, 9, 10], [11, 12, 0]],
            [[0, 0, 0], [1, 1, 0], [2, 0, 1], [0, 1, 0]],
            [4, 4, 3],
            [[2, 3, 2], [7, 5, 7], [8, 9, 8], [11, 12, 0]],
        ),
    ]
    for values, parents, lengths, expected in rows:
        values, expected = np.array(values), np.array(expected)
        for _ in range(depth):
            values = np.stack([values, values + 1], axis=-1)
            expected = np.stack([expected, expected + 1], axis=-1)
        real = np.arange(4)[:, None] < lengths
        expected = np.where(real.reshape(*real.shape, *[1] * depth), expected, 0)
        np.testing.assert_array_equal(followed(values, parents, lengths), expected)


def test_gather_tree_from_array_complex_trajectory():
    # TFA: test_gather_tree_from_array_complex_trajectory, 7 steps, 5 beams. After a
    # hypothesis' length the peer returns what was there; here it is padding.
    values = [
        [25, 12, 114, 89, 97],
        [9, 91, 64, 11, 162],
        [34, 34, 34, 34, 34],
        [2, 4, 2, 2, 4],
        [2, 3, 6, 2, 2],
        [2, 2, 2, 3, 2],
        [2, 2, 2, 2, 2],
    ]
    parents = [
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 1, 2, 3, 4],
        [0, 0, 1, 2, 1],
        [0, 1, 1, 2, 3],
        [0, 1, 3, 1, 2],
        [0, 1, 2, 3, 4],
    ]
    expected = [
        [25, 25, 25, 25, 25],
        [9, 9, 91, 9, 9],
        [34, 34, 34, 34, 34],
        [2, 4, 2, 4, 4],
        [0, 3, 0, 3, 6],
        [0, 2, 0, 3, 2],
        [0, 0, 0, 2, 0],
    ]
    lengths = np.array([4, 6, 4, 7, 6])
    np.testing.assert_array_equal(followed(values, parents, lengths), expected)


# One step of the beam -----------------------------------------------------------------


def small_logits(**changed):
    logits = np.full([2, 3, 5], 0.0001, "float32")
    logits[0, 0, 2], logits[0, 0, 3] = 1.9, 2.1
    logits[0, 1, 3], logits[0, 1, 4] = 3.1, 0.9
    logits[1, 0, 1], logits[1, 1, 2] = 0.5, 2.7
    logits[1, 2, 2], logits[1, 2, 3] = 10.0, 0.2
    return logits


def state(log_probs, lengths, finished):
    shape = np.shape(lengths)
    return Hypotheses(
        tokens=tf.zeros(shape, tf.int32),
        log_probs=tf.constant(log_probs, tf.float32),
        lengths=tf.constant(lengths, tf.int32),
        finished=tf.constant(finished),
        coverage=(),
        history=(),
    )


def step(search, logits, now):
    """Return the `Choice` of one step of the loop and the hypotheses after it."""
    at = StepInfo(tf.constant(2), mask=None, seed=None)
    rules = TokenRules(search, TOKENS, None)
    candidates = find_candidates(tf.constant(logits), search.best_of, now, at.t, rules)
    choice = search.choose(candidates, now, at)
    limits = tf.fill([len(logits)], 100)
    return choice, advance(now, choice, at.t, limits, TOKENS)


def test_beam_step():
    # TFA: test_beam_step; the log-probabilities are derived from its inputs.
    search = ks.BeamSearch(3, length_penalty=0.6)
    now = state(np.full([2, 3], -np.log(3)), np.full([2, 3], 2), np.zeros([2, 3], bool))
    choice, new = step(search, small_logits(), now)
    np.testing.assert_array_equal(new.tokens, [[3, 3, 2], [2, 2, 1]])
    np.testing.assert_array_equal(choice.parents, [[1, 0, 0], [2, 1, 0]])
    np.testing.assert_array_equal(new.lengths, np.full([2, 3], 3))
    assert not np.any(new.finished)
    expected = [[-1.318522, -1.880748, -2.080748], [-1.098804, -1.336722, -2.330112]]
    np.testing.assert_allclose(new.log_probs, expected, rtol=0, atol=2e-6)


def test_step_with_eos():
    # TFA: test_step_with_eos. The finished one keeps length 1 and its log-probability.
    search = ks.BeamSearch(3, length_penalty=0.6)
    now = state(
        np.full([2, 3], -np.log(3)),
        [[2, 1, 2], [2, 2, 1]],
        [[False, True, False], [False, False, True]],
    )
    logits = small_logits()
    logits[1, 1, 2], logits[1, 2, 2] = 5.7, 1.0
    choice, new = step(search, logits, now)
    np.testing.assert_array_equal(new.tokens, [[0, 3, 2], [2, 0, 1]])
    np.testing.assert_array_equal(choice.parents, [[1, 0, 0], [1, 2, 0]])
    np.testing.assert_array_equal(new.lengths, [[1, 3, 3], [3, 1, 3]])
    np.testing.assert_array_equal(
        new.finished, [[True, False, False], [False, True, False]]
    )
    expected = [[-1.098612, -1.880748, -2.080748], [-1.111909, -1.098612, -2.330112]]
    np.testing.assert_allclose(new.log_probs, expected, rtol=0, atol=2e-6)


def test_large_beam_step():
    # TFA: test_large_beam_step: 8 places, 5 tokens, a single hypothesis to begin with.
    search = ks.BeamSearch(8, length_penalty=0.6)
    now = initial_hypotheses(search, 2, None, 4, TOKENS)
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


def test_eos_masking():
    # TFA: test_eos_masking: a finished hypothesis has one continuation, of cost 0. The
    # peer masks the distribution; here it is what may be chosen: seen from outside.
    search = ks.BeamSearch(5)
    finished = [[False, True, False, True, False]]
    log_probs = [[-5.0, -1.0, -5.1, -2.0, -9.0]]
    now = state(log_probs, [[2, 2, 2, 1, 2]], finished)
    logits = np.zeros([1, 5, 5], "float32")
    logits[0, 1], logits[0, 3] = [-0.3, -0.3, -0.3, 3, 0], [5, 6, 0, 0, 0]
    choice, new = step(search, logits, now)
    np.testing.assert_array_equal(choice.parents[0, :2], [1, 3])  # once each
    assert not {1, 3} & set(choice.parents.numpy()[0, 2:])
    np.testing.assert_array_equal(new.log_probs[0, :2], [-1.0, -2.0])  # as they were
    np.testing.assert_array_equal(new.lengths[0, :2], [2, 1])
    np.testing.assert_array_equal(new.tokens[0, :2], [TOKENS.end] * 2)


# Lengths and penalties ----------------------------------------------------------------


def test_length_penalty():
    # GS beam_search_test: length_penalty 0.6.
    received = ks.decoding.length_penalty(np.array([1, 2, 3]), 0.6)
    np.testing.assert_allclose(received, [1.0, 1.0969026, 1.1884016], atol=2e-7)
    np.testing.assert_array_equal(
        ks.decoding.length_penalty(np.array([1, 7]), 0.0), [1.0, 1.0]
    )


def test_length_after_a_new_end():
    # GS test_step_with_new_eos has length 2 after the end token, TFA 3: ours counts it.
    search = ks.BeamSearch(3, length_penalty=0.6)
    now = state(np.full([1, 3], -np.log(3)), [[2, 2, 2]], np.zeros([1, 3], bool))
    logits = small_logits()[:1]
    logits[0, 1, 0] = 9.0
    _, new = step(search, logits, now)
    assert new.tokens[0, 0] == TOKENS.end and new.finished[0, 0]
    assert new.lengths[0, 0] == 3


@pytest.mark.parametrize("search", [ks.Greedy, ks.BeamSearch])
def test_scripted_logits(search):
    # ONMT decoding_test: testGreedyDecode, with maximum and minimum iterations. Its
    # lengths leave the end token out, ours count it: [4, 3] for its [3, 2]. It pads
    # with the end token, here with padding.
    model, script = Speller(), np.array([[4, 5, 6, 2], [3, 8, 2, 8]])
    decoded = ks.decode(model, script, search(), max_length=250)
    np.testing.assert_array_equal(decoded.tokens, [[[4, 5, 6, 2]], [[3, 8, 2, 0]]])
    np.testing.assert_array_equal(decoded.lengths, [[4], [3]])

    decoded = ks.decode(model, script, search(), max_length=2)
    np.testing.assert_array_equal(decoded.tokens, [[[4, 5]], [[3, 8]]])
    np.testing.assert_array_equal(decoded.lengths, [[2], [2]])


def test_scripted_logits_with_a_minimum():
    # ONMT: minimum_iterations=2 without the end token is min_length=3 with it.
    script = np.array([[4, 2, 2, 2], [3, 8, 7, 2]])
    decoded = ks.decode(Speller(), script, ks.Greedy(min_length=3), max_length=250)
    np.testing.assert_array_equal(decoded.lengths, [[3], [4]])  # [2, 3] there
