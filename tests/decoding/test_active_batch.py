"""Finished sentences leave the batch; the results stay the same."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.decoding.active_batch import ActiveBatch, gather_all, scatter, shrink
from keras_seqattn.decoding.decoded import StepRecord
from tests.decoding.real_models import ATTENTIONS, seq2seq

BATCH, SOURCE = 9, 12
LIMIT = ks.decoding.RelativeLength(1.0)
SEARCHES = [
    ks.Greedy(),
    ks.Greedy(no_repeat_ngram=2, min_length=3),
    ks.BeamSearch(3, n_best=3, length_penalty=0.6, coverage_penalty=0.2),
    ks.BeamSearch(2, n_best=2, no_repeat_ngram=2, use_early_stop=False),
]


class Staying:
    """A model without `select`: all sentences stay to the end."""

    def __init__(self, model):
        self.start, self.step, self.pad = model.start, model.step, model.pad
        self.look_ahead, self.variables = model.look_ahead, model.variables


class Counting(ks.Seq2Seq):
    """Notes the size of the batch whenever it shrinks."""

    sizes = []

    def select(self, memory, rows):
        tf.py_function(lambda n: self.sizes.append(int(n)), [tf.size(rows)], [])
        return super().select(memory, rows)


def sources(seed=3):
    """Return sources of very different lengths, so of different limits."""
    random = np.random.default_rng(seed)
    lengths = random.permutation([1, 2, 2, 3, 3, 5, 6, 9, SOURCE])
    ids = random.integers(3, 13, (BATCH, SOURCE))
    return np.where(np.arange(SOURCE) < lengths[:, None], ids, 0)


def assert_same(received, expected):
    for name, one, two in zip(expected._fields, received, expected, strict=True):
        np.testing.assert_allclose(one, two, atol=2e-6, err_msg=name)


@pytest.mark.parametrize("search", SEARCHES, ids=str)
def test_result_stays_the_same(search):
    model = Counting.from_config(seq2seq().get_config())
    Counting.sizes.clear()
    received = ks.decode(model, sources(), search, LIMIT)
    sizes = Counting.sizes  # halves, until the search is over
    assert sizes and sizes == [4, 2, 1][: len(sizes)]
    assert_same(received, ks.decode(Staying(model), sources(), search, LIMIT))


@pytest.mark.parametrize("leaving", [None, False, True])
def test_inside_a_function_sentences_leave_only_on_request(leaving):
    model = Counting.from_config(seq2seq().get_config())
    staying = ks.decode(model, sources(), ks.Greedy(), LIMIT, leaving=False)
    Counting.sizes.clear()

    @tf.function(autograph=False)
    def decoded(source):
        return ks.decode(model, source, ks.Greedy(), LIMIT, leaving=leaving)

    received = decoded(tf.constant(sources()))
    assert bool(Counting.sizes) == (leaving is True)
    longest = staying.tokens.shape[-1]
    assert not np.any(received.tokens[..., longest:])
    cut = received._replace(
        tokens=received.tokens[..., :longest],
        alignments=received.alignments[..., :longest, :],
    )
    assert_same(cut, staying)


@pytest.mark.parametrize("attention", [a for a in ATTENTIONS if a != "bahdanau"])
def test_every_attention(attention):
    model, search = seq2seq(attention, cell="bahdanau"), SEARCHES[2]
    received = ks.decode(model, sources(), search, LIMIT)
    assert_same(received, ks.decode(Staying(model), sources(), search, LIMIT))


def test_ensemble():
    ensemble = ks.decoding.Ensemble([seq2seq(seed=1), seq2seq("coverage", seed=2)])
    stay = ks.decoding.Ensemble([Staying(model) for model in ensemble.models])
    for search in (SEARCHES[0], SEARCHES[2]):
        received = ks.decode(ensemble, sources(), search, LIMIT)
        assert_same(received, ks.decode(stay, sources(), search, LIMIT))


def test_with_a_prefix_and_in_sampling_all_sentences_stay():
    model = Counting.from_config(seq2seq().get_config())
    Counting.sizes.clear()
    ks.decode(model, sources(), ks.decoding.Sample(seed=1), LIMIT)
    ks.decode(model, sources(), ks.Greedy(), LIMIT, prefix=np.full([BATCH, 1], 5))
    assert not Counting.sizes


def active_batch(count):
    rows, memory = tf.range(count) * 10, {"values": tf.range(count) * 10 + 1}
    finished = tf.fill([50], -1)
    return ActiveBatch(rows, memory, rows + 2, rows[:, None] > 5, finished)


class Selecting:
    def select(self, memory, rows):
        return keras.tree.map_structure(lambda x: tf.gather(x, rows), memory)


@pytest.mark.parametrize(
    ("done", "rows"),
    [
        ([1, 0, 1, 0, 1], [10, 30]),
        ([1, 1, 1, 0, 1], [30, 0]),  # a finished sentence makes up the half
        ([1, 0, 0, 0, 1], [0, 10, 20, 30, 40]),  # not yet
        ([1, 1, 1, 1, 1], [0, 10, 20, 30, 40]),  # the search is over
        ([0], [0]),
    ],
)
def test_sentences_that_stay(done, rows):
    before, now = active_batch(len(done)), tf.range(len(done))
    after, now, state = shrink(
        Selecting(), tf.cast(done, tf.bool), before, now, now * 2
    )
    places = np.array(rows) // 10
    np.testing.assert_array_equal(after.rows, rows)
    np.testing.assert_array_equal(after.memory["values"], np.array(rows) + 1)
    np.testing.assert_array_equal(after.limits, np.array(rows) + 2)
    np.testing.assert_array_equal(after.mask[:, 0], np.array(rows) > 5)
    np.testing.assert_array_equal(now, places)
    np.testing.assert_array_equal(state, places * 2)
    finished = np.full(50, -1)
    if len(rows) < len(done):
        finished[np.arange(len(done)) * 10] = np.arange(len(done))
    np.testing.assert_array_equal(after.finished, finished)
    finished[rows] = places
    np.testing.assert_array_equal(gather_all(after, now), finished)


def test_record_of_sentences_that_left():
    record = StepRecord(
        tf.constant([[7, 8]]), tf.ones([1, 2, 3]), tf.constant([[1, 0]])
    )
    tokens, alignment, parents = scatter(record, tf.constant([1]), 3)
    np.testing.assert_array_equal(tokens, [[0, 0], [7, 8], [0, 0]])
    np.testing.assert_array_equal(alignment[:, 0, 0], [0, 1, 0])
    np.testing.assert_array_equal(parents, [[0, 1], [1, 0], [0, 1]])
