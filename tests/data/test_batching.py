"""Batches with little padding; epochs: complete, shuffled, repeatable, resumable."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import keras_seqattn as ks
from keras_seqattn import data
from tests.data.fakes import Letters, captions, encoded_pairs

LENGTHS = [[n % 7, (n * n) % 11] for n in range(100)]
SHORT = st.integers(0, 12)


@pytest.fixture(scope="module")
def encoded():
    return encoded_pairs(LENGTHS)


def arrays(dataset):
    batches = [(x["source"], x["target"], labels) for x, labels in dataset]
    return [tuple(part.numpy() for part in batch) for batch in batches]


def equal(first, second):
    flat = [[x for batch in epoch for x in batch] for epoch in (first, second)]
    return len(first) == len(second) and all(map(np.array_equal, *flat))


def rows(epoch):
    """Return all pairs of an epoch, without padding, in a fixed order."""
    pairs = [pair for batch in epoch for pair in zip(*batch, strict=True)]
    return sorted(tuple(tuple(row[row != 0]) for row in pair) for pair in pairs)


def expected_rows(lengths):
    sides = (([n] * s, [n] * t) for n, (s, t) in enumerate(lengths, start=4))
    return sorted(((*s, 2), (1, *t), (*t, 2)) for s, t in sides)


@settings(max_examples=settings().max_examples // 2)
@given(
    lengths=st.lists(st.tuples(SHORT, SHORT), min_size=1, max_size=30),
    batch_tokens=st.integers(1, 60),
    shuffle=st.booleans(),
)
def test_every_pair_once_in_every_epoch(lengths, batch_tokens, shuffle):
    dataset = data.batches(encoded_pairs(lengths), batch_tokens, shuffle=shuffle)
    for _ in range(2):
        epoch = arrays(dataset)
        assert len(epoch) == dataset.cardinality().numpy()
        assert rows(epoch) == expected_rows(lengths)
        for source, target, labels in epoch:
            assert source.dtype == target.dtype == labels.dtype == np.int32
            assert target.shape == labels.shape
            assert len(source) == 1 or max(source.size, labels.size) <= batch_tokens
            for ids in (source, target, labels):  # padding stands behind, only
                real = ids != 0
                assert np.all(real[:, :-1] >= real[:, 1:])
            assert np.array_equal(target != 0, labels != 0)


def test_other_special_tokens_in_epochs_that_repeat_with_the_seed(encoded):
    ids, special = data.Ids.of([[20, 21], [22]]), ks.types.SpecialTokens
    others = data.EncodedPairs(ids, ids, special(9, 8, 7, 6), special(5, 4, 3, 2))
    ((inputs, labels),) = data.batches(others, batch_size=2, shuffle=False)
    assert inputs["source"].numpy().tolist() == [[20, 21, 7], [22, 7, 9]]
    assert inputs["target"].numpy().tolist() == [[4, 20, 21], [4, 22, 5]]
    assert labels.numpy().tolist() == [[20, 21, 3], [22, 3, 5]]
    first, second = (data.batches(encoded, 40, seed=3) for _ in range(2))
    epochs = [arrays(first) for _ in range(3)]
    assert all(equal(epoch, arrays(second)) for epoch in epochs)
    assert not equal(epochs[0], epochs[1]) and not equal(epochs[1], epochs[2])
    shapes = [sorted(labels.shape for *_, labels in epoch) for epoch in epochs]
    assert shapes[0] == shapes[1] == shapes[2]
    orders = [[labels.shape for *_, labels in epoch] for epoch in epochs]
    assert orders[0] != orders[1]
    assert not equal(epochs[0], arrays(data.batches(encoded, 40, seed=4)))
    whole = data.batches(encoded, 40)
    epochs = [arrays(whole) for _ in range(4)]
    rest = data.batches(encoded, 40, epoch=2)
    assert equal(arrays(rest), epochs[2]) and equal(arrays(rest), epochs[3])


def test_in_order_without_shuffle_and_in_lengths_that_are_multiples(encoded):
    dataset = data.batches(encoded, 40, shuffle=False)
    epochs = arrays(dataset), arrays(dataset)
    assert equal(*epochs)
    lengths = [labels.shape[1] for *_, labels in epochs[0]]
    assert lengths[0] == max(lengths) and lengths[-1] == min(lengths)
    plan = data.plan_batches(encoded, 80, pad_to_multiple=4)
    dataset = data.batches(encoded, 80, pad_to_multiple=4)
    for _ in range(2):
        shapes = {(*s.shape, t.shape[1]) for s, t, _ in arrays(dataset)}
        assert sorted(shapes) == plan.shapes


def test_function_is_asked_for_every_epoch():
    pairs = data.Pairs(["abc", "d"] * 10, ["x", "yz"] * 10)
    text, asked = Letters(), []

    def sampled(epoch):
        asked.append(epoch)
        return data.encode(pairs, text, text, sample=True)

    dataset = data.batches(sampled, 30, epoch=5)
    assert asked == [5]  # for errors that are seen at once
    assert dataset.cardinality().numpy() == -2  # tf.data.UNKNOWN_CARDINALITY
    longest = [max(source.shape[1] for source, *_ in arrays(dataset)) for _ in range(3)]
    assert asked == [5, 6, 7]
    assert longest == [3 + 1 + 1, 3 + 3 + 1, 3 + 5 + 1]  # two draws an epoch, and end


def test_fit_knows_the_number_of_steps(encoded):
    inputs = {name: keras.Input((None,), name=name) for name in ("source", "target")}
    logits = keras.layers.Embedding(104, 104, mask_zero=True)(inputs["target"])
    model = keras.Model(inputs, logits)
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    dataset, seen = data.batches(encoded, 80), keras.callbacks.Callback()
    model.fit(dataset, epochs=2, shuffle=False, verbose=0, callbacks=[seen])
    assert seen.params["steps"] == dataset.cardinality().numpy()
    following = arrays(data.batches(encoded, 80, epoch=2))
    assert equal(arrays(dataset), following)
    # The end of an epoch would wait for a thread of tf.data that sleeps for seconds.
    assert dataset.options().autotune.enabled is False


def test_no_generator_in_the_dataset_and_what_was_left_begins_again(encoded):
    # A generator would slow every step of the process down.
    graph = tf.raw_ops.DatasetToGraphV2(
        input_dataset=data.batches(encoded, 40)._variant_tensor,
        external_state_policy=1,  # it has state, and may
    )
    assert b"PyFunc" in graph.numpy() and b"Generator" not in graph.numpy()
    dataset = data.batches(encoded, 40)
    left = iter(dataset)
    next(left)
    whole = arrays(dataset)
    assert not equal(whole, arrays(dataset))
    assert equal(whole, arrays(data.batches(encoded, 40)))
    assert equal(whole[1:], arrays(left))  # what was begun is not disturbed


LENGTH = st.integers(0, 30)
PAIRS_OF_LENGTHS = st.lists(st.tuples(LENGTH, LENGTH), min_size=1, max_size=60)


@pytest.fixture(scope="module")
def many():
    return captions()


@pytest.mark.parametrize("size", [1000, 1500, 2000, {"batch_size": 32}])
def test_padding_of_captions(many, size):
    size = size if isinstance(size, dict) else {"batch_tokens": size}
    source, target = data.plan_batches(many, **size).padding
    assert target <= 0.02 and source <= 0.09


def test_multiples_make_few_shapes_and_pairs_meet_others(many):
    plan = data.plan_batches(many, 2000, pad_to_multiple=8)
    assert len(plan.shapes) <= 40 < len(data.plan_batches(many, 2000).shapes)
    assert not np.any(plan.source_lengths % 8) and not np.any(plan.target_lengths % 8)
    # Where a target length is rare, sources are sorted in wider strips of targets.
    source, target = data.plan_batches(captions(1000), 1000).padding
    assert source + target < 0.27
    plan, kept, met = data.plan_batches(many, 1500), 0, 0
    batch_of = np.zeros(len(many), int)
    first, second = (plan.indices(np.random.default_rng(n)) for n in range(2))
    for n, pairs in enumerate(first):
        batch_of[pairs] = n
    for pairs in second:
        counts = np.bincount(batch_of[pairs])
        kept += np.sum(counts * (counts - 1))
        met += len(pairs) * (len(pairs) - 1)
    assert kept / met < 0.35


@given(
    lengths=PAIRS_OF_LENGTHS,
    batch_tokens=st.none() | st.integers(1, 200),
    batch_size=st.integers(1, 20),
    multiple=st.integers(1, 4),
)
def test_plan(lengths, batch_tokens, batch_size, multiple):
    encoded = encoded_pairs(lengths)
    options = {"batch_size": batch_size, "pad_to_multiple": multiple}
    plan = data.plan_batches(encoded, batch_tokens, **options)
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


@given(lengths=PAIRS_OF_LENGTHS, batch_size=st.integers(1, 20))
def test_all_batches_but_one_are_full(lengths, batch_size):
    plan = data.plan_batches(encoded_pairs(lengths), batch_size=batch_size)
    assert np.all(plan.rows[:-1] == batch_size)


def test_too_long_a_pair_is_alone():
    encoded = encoded_pairs([[3, 3], [400, 2], [3, 3], [2, 500], [400, 2]])
    plan = data.plan_batches(encoded, batch_tokens=100)
    assert sorted(plan.rows.tolist()) == [1, 1, 1, 2]
