"""Finished sentences leave the batch; the results stay the same."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.decoding.fakes import END, MODEL, TableMemory, TableModel, tables
from tests.decoding.real_models import ATTENTIONS, known
from tests.decoding.results import assert_same

BATCH, LIMIT = 9, 14
SEARCHES = [
    ks.Greedy(),
    ks.Greedy(no_repeat_ngram=2, min_length=3),
    ks.BeamSearch(3, n_best=3, length_penalty=0.6, coverage_penalty=0.2),
    ks.BeamSearch(2, n_best=2, no_repeat_ngram=2, use_early_stop=False),
]


class Selecting(TableModel):
    """Notes the size of the batch whenever it shrinks; without `select` all stay."""

    def __init__(self):
        self.sizes = []

    def select(self, memory, rows):
        tf.py_function(lambda n: self.sizes.append(int(n)), [tf.size(rows)], [])
        return TableMemory(*[tf.gather(x, rows) for x in memory])


def ending(seed=3):
    source = tables(seed, batch=BATCH, source=12)
    source["table"][..., END] += np.linspace(-3, 6, BATCH)[::-1, None]
    return source


@pytest.mark.parametrize("search", SEARCHES, ids=str)
def test_result_stays_the_same(search):
    model = Selecting()
    received = ks.decode(model, ending(), search, LIMIT)
    sizes = model.sizes  # halves, until the search is over
    assert sizes and sizes == [4, 2, 1][: len(sizes)]
    assert_same(received, ks.decode(MODEL, ending(), search, LIMIT), atol=2e-6)


def test_half_of_the_batch_is_enough():
    model, source = Selecting(), {name: x[[0, -1]] for name, x in ending().items()}
    ks.decode(model, source, ks.Greedy(), LIMIT)
    assert model.sizes == [1]


@pytest.mark.parametrize("leaving", [None, False, True])
def test_inside_a_function_sentences_leave_only_on_request(leaving):
    model = Selecting()

    @tf.function(autograph=False)
    def decoded(source):
        return ks.decode(model, source, ks.Greedy(), LIMIT, leaving=leaving)

    received = decoded(keras.tree.map_structure(tf.constant, ending()))
    assert bool(model.sizes) == (leaving is True)
    expected = ks.decode(MODEL, ending(), ks.Greedy(), LIMIT)
    assert_same(received, expected, atol=2e-6)


@pytest.mark.parametrize("attention", [a for a in ATTENTIONS if a != "bahdanau"])
def test_every_attention(attention):
    """Sentences have different limits; Bahdanau's attention is in test_shortlist.py."""
    lengths = np.random.default_rng(3).permutation([1, 2, 2, 3, 3, 5, 6, 9, 12])
    ids = np.random.default_rng(3).integers(3, 13, (BATCH, 12))
    source = np.where(np.arange(12) < lengths[:, None], ids, 0)
    search = SEARCHES[2] if attention == "coverage" else ks.Greedy()
    task = known(attention), source, search, ks.decoding.RelativeLength(1.0)
    left, stayed = (ks.decode(*task, leaving=leaving) for leaving in (True, False))
    assert_same(left, stayed, atol=2e-6)


def test_ensemble():
    leaving = ks.decoding.Ensemble([Selecting(), Selecting()], weights=[2, 1])
    staying = ks.decoding.Ensemble([Selecting(), MODEL], weights=[2, 1])
    expected = ks.decode(staying, ending(), SEARCHES[2], LIMIT)
    received = ks.decode(leaving, ending(), SEARCHES[2], LIMIT)
    assert_same(received, expected, atol=2e-6)
    assert leaving.models[1].sizes and not staying.models[0].sizes


def test_with_a_prefix_and_in_sampling_all_sentences_stay():
    model = Selecting()
    ks.decode(model, ending(), ks.decoding.Sample(seed=1), LIMIT)
    ks.decode(model, ending(), ks.Greedy(), LIMIT, prefix=np.full([BATCH, 1], 5))
    assert not model.sizes
