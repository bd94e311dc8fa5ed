"""Little padding, few shapes, and no batch beyond its size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_seqattn import data
from tests.data.fakes import captions, encoded_pairs

LENGTHS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=60
)


@pytest.fixture(scope="module")
def encoded():
    return captions()


@pytest.mark.parametrize("batch_tokens", [1000, 1500, 2000])
def test_padding_of_captions(encoded, batch_tokens):
    """The limits are 5 % padding in targets and 12 % in sources."""
    plan = data.plan_batches(encoded, batch_tokens)
    source, target = plan.padding
    assert target <= 0.02 and source <= 0.09
    assert np.max(plan.rows * plan.target_lengths) <= batch_tokens
    assert np.max(plan.rows * plan.source_lengths) <= batch_tokens


@pytest.mark.parametrize("batch_size", [32, 64])
def test_padding_of_sentence_batches(encoded, batch_size):
    plan = data.plan_batches(encoded, batch_size=batch_size)
    assert len(plan) == -(-29_000 // batch_size)
    source, target = plan.padding
    assert target <= 0.02 and source <= 0.09


def test_multiples_make_few_shapes(encoded):
    plan = data.plan_batches(encoded, 2000, pad_to_multiple=8)
    assert len(plan.shapes) <= 40 < len(data.plan_batches(encoded, 2000).shapes)
    assert not np.any(plan.source_lengths % 8) and not np.any(plan.target_lengths % 8)


def test_small_corpus_is_sorted_by_both_sides():
    """Where a target length is rare, sources are sorted in wider strips of targets."""
    source, target = data.plan_batches(captions(1000), 1000).padding
    assert source + target < 0.27


def test_most_pairs_meet_others_in_the_next_epoch(encoded):
    plan, kept, met = data.plan_batches(encoded, 1500), 0, 0
    batch_of = np.zeros(len(encoded), int)
    first, second = (plan.indices(np.random.default_rng(n)) for n in range(2))
    for n, pairs in enumerate(first):
        batch_of[pairs] = n
    for pairs in second:
        counts = np.bincount(batch_of[pairs])
        kept += np.sum(counts * (counts - 1))
        met += len(pairs) * (len(pairs) - 1)
    assert kept / met < 0.35


@given(
    lengths=LENGTHS,
    batch_tokens=st.none() | st.integers(1, 200),
    batch_size=st.integers(1, 20),
    multiple=st.integers(1, 4),
)
def test_plan(lengths, batch_tokens, batch_size, multiple):
    encoded = encoded_pairs(lengths)
    plan = data.plan_batches(
        encoded, batch_tokens, batch_size=batch_size, pad_to_multiple=multiple
    )
    lengths = 1 + np.array(lengths)
    planned = np.stack([plan.source_lengths, plan.target_lengths], axis=1)
    assert np.all(planned % multiple == 0)
    assert np.all(plan.rows <= batch_size)
    fits = plan.rows * np.max(planned, axis=1) <= (batch_tokens or np.inf)
    assert np.all(fits | (plan.rows == 1))
    for random in (None, np.random.default_rng(0)):
        indices = plan.indices(random)
        assert sorted(np.concatenate(indices)) == list(range(len(lengths)))
        assert list(map(len, indices)) == plan.rows.tolist()
        for pairs, room in zip(indices, planned, strict=True):
            assert np.all(lengths[pairs] <= room)
    positions = np.sum(plan.rows[:, None] * planned, axis=0)
    np.testing.assert_allclose(plan.padding, 1 - np.sum(lengths, axis=0) / positions)


@given(lengths=LENGTHS, batch_size=st.integers(1, 20))
def test_all_batches_but_one_are_full(lengths, batch_size):
    plan = data.plan_batches(encoded_pairs(lengths), batch_size=batch_size)
    assert np.all(plan.rows[:-1] == batch_size)


def test_too_long_a_pair_is_alone():
    encoded = encoded_pairs([[3, 3], [400, 2], [3, 3], [2, 500], [400, 2]])
    plan = data.plan_batches(encoded, batch_tokens=100)
    assert sorted(plan.rows.tolist()) == [1, 1, 1, 2]
