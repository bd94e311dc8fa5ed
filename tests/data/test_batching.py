"""Epochs of batches: complete, shuffled, repeatable, resumable, and known to Keras."""

import time

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from keras_seqattn import data
from tests.data.fakes import Letters, encoded_pairs

LENGTHS = [[n % 7, (n * n) % 11] for n in range(100)]


@pytest.fixture(scope="module")
def encoded():
    return encoded_pairs(LENGTHS)


def arrays(dataset):
    """An epoch, as a list of (source, target, labels)."""
    return [
        (inputs["source"].numpy(), inputs["target"].numpy(), labels.numpy())
        for inputs, labels in dataset
    ]


def equal(first, second):
    return len(first) == len(second) and all(
        np.array_equal(a, b)
        for x, y in zip(first, second, strict=True)
        for a, b in zip(x, y, strict=True)
    )


def rows(epoch):
    """Return all pairs of an epoch, without padding, in a fixed order."""
    return sorted(
        tuple(tuple(row[row != 0]) for row in pair)
        for batch in epoch
        for pair in zip(*batch, strict=True)
    )


def expected_rows(lengths):
    return sorted(
        ((*[n + 4] * s, 2), (1, *[n + 4] * t), (*[n + 4] * t, 2))
        for n, (s, t) in enumerate(lengths)
    )


@given(
    lengths=st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=30
    ),
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


def test_other_special_tokens():
    source, target = (
        ks.types.SpecialTokens(9, 8, 7, 6),
        ks.types.SpecialTokens(5, 4, 3, 2),
    )
    ids = data.Ids.of([[20, 21], [22]])
    encoded = data.EncodedPairs(ids, ids, source, target)
    ((inputs, labels),) = data.batches(encoded, batch_size=2, shuffle=False)
    assert inputs["source"].numpy().tolist() == [[20, 21, 7], [22, 7, 9]]
    assert inputs["target"].numpy().tolist() == [[4, 20, 21], [4, 22, 5]]
    assert labels.numpy().tolist() == [[20, 21, 3], [22, 3, 5]]


def test_epochs_differ_and_repeat_with_the_seed(encoded):
    first, second = (data.batches(encoded, 40, seed=3) for _ in range(2))
    epochs = [arrays(first) for _ in range(3)]
    for epoch in epochs:
        assert equal(epoch, arrays(second))
    assert not equal(epochs[0], epochs[1]) and not equal(epochs[1], epochs[2])
    shapes = [sorted(labels.shape for *_, labels in epoch) for epoch in epochs]
    assert shapes[0] == shapes[1] == shapes[2]
    orders = [[labels.shape for *_, labels in epoch] for epoch in epochs]
    assert orders[0] != orders[1]
    assert not equal(epochs[0], arrays(data.batches(encoded, 40, seed=4)))


def test_a_training_goes_on_where_it_stopped(encoded):
    whole = data.batches(encoded, 40)
    epochs = [arrays(whole) for _ in range(4)]
    rest = data.batches(encoded, 40, epoch=2)
    assert equal(arrays(rest), epochs[2]) and equal(arrays(rest), epochs[3])


def test_a_look_is_no_epoch(encoded):
    dataset = data.batches(encoded, 40)
    for _ in dataset.take(3):
        pass
    assert equal(arrays(dataset), arrays(data.batches(encoded, 40)))


def test_in_order_without_shuffle(encoded):
    dataset = data.batches(encoded, 40, shuffle=False)
    epochs = arrays(dataset), arrays(dataset)
    assert equal(*epochs)
    lengths = [labels.shape[1] for *_, labels in epochs[0]]
    assert lengths[0] == max(lengths) and lengths[-1] == min(lengths)


def test_lengths_are_multiples(encoded):
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
    class Steps(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            self.steps = self.params["steps"]

    inputs = {name: keras.Input((None,), name=name) for name in ("source", "target")}
    logits = keras.layers.Embedding(104, 104, mask_zero=True)(inputs["target"])
    model = keras.Model(inputs, logits)
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    dataset, steps = data.batches(encoded, 80), Steps()
    model.fit(dataset, epochs=2, shuffle=False, verbose=0, callbacks=[steps])
    assert steps.steps == dataset.cardinality().numpy()
    following = arrays(data.batches(encoded, 80, epoch=2))
    assert equal(arrays(dataset), following)


def test_an_epoch_ends_with_its_last_step(encoded):
    """An epoch does not wait for a thread of tf.data, which would wake after 2.55 s."""

    class Slow(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            time.sleep(1.4 / steps)
            self.last = time.monotonic()

    model = keras.Sequential([keras.layers.Embedding(104, 104)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    dataset, slow = data.batches(encoded, 80), Slow()
    steps = dataset.cardinality().numpy()
    first = dataset.map(lambda inputs, labels: (inputs["target"], labels))
    model.fit(first, shuffle=False, verbose=0)
    model.fit(first, shuffle=False, verbose=0, callbacks=[slow])
    assert time.monotonic() - slow.last < 0.6
    assert first.options().autotune.enabled is False


def test_the_whole_process_keeps_its_memory():
    """A generator in a dataset would slow every step down."""
    dataset = data.batches(
        data.EncodedPairs.of([[5, 6], [7]], [[5], [6, 7]]), batch_size=2
    )
    graph = tf.raw_ops.DatasetToGraphV2(
        input_dataset=dataset._variant_tensor,
        external_state_policy=1,  # it has state, and may
    )
    assert b"PyFunc" in graph.numpy() and b"Generator" not in graph.numpy()


def test_an_epoch_that_was_left_begins_again():
    pairs = data.EncodedPairs.of(
        [[n] for n in range(5, 25)], [[n] for n in range(5, 25)]
    )
    dataset = data.batches(pairs, batch_size=2, seed=3)

    def sources(dataset):
        return [inputs["source"].numpy().tolist() for inputs, _ in dataset]

    left = iter(dataset)
    next(left)
    whole = sources(dataset)
    second = sources(dataset)
    assert whole != second and len(whole) == len(second) == 10
    assert whole == sources(data.batches(pairs, batch_size=2, seed=3))
    rest = [inputs["source"].numpy().tolist() for inputs, _ in left]
    assert rest == whole[1:]  # what was begun is not disturbed
