"""A dataset for `fit`, with sentences of similar length in each batch."""

import functools

import numpy as np
import tensorflow as tf

from keras_seqattn.checks import check_count
from keras_seqattn.data.batch_plan import check_sizes, plan_batches

_PREFETCHED = 2  # batches that are made while the model trains


def batches(
    encoded,
    batch_tokens=None,
    *,
    batch_size=None,
    shuffle=True,
    seed=0,
    epoch=0,
    pad_to_multiple=1,
):
    """Groups sentences of similar length into batches, and returns them as a dataset.

    One pass over the dataset is one epoch, in which every pair occurs once. With
    `shuffle`, each epoch has another order of batches, and groups other pairs of
    similar length. All epochs have the same shapes and the same number of batches,
    which the dataset knows.

    An epoch counts as finished when its last batch has been made, which is up to two
    batches before that batch is used. Reading only the first batches does not count as
    an epoch. Epoch n does not depend on the epochs before it: so `epoch=n` continues a
    training that has stopped after n epochs.

    Args:
        encoded: `EncodedPairs`; or a function from the number of an epoch to the
            `EncodedPairs` of this epoch, which is called when the epoch begins (for
            the first epoch immediately, so that errors appear at once). The dataset
            then does not know the number of batches.
        batch_tokens: largest number of positions in a batch, on its longer side,
            padding and end tokens included: number of pairs times longest sentence. A
            pair that is longer gets its own batch: see `filter_lengths`.
        batch_size: largest number of pairs in a batch. Pass it with or without
            `batch_tokens`; with both, no batch exceeds either.
        shuffle: False: the same order in every epoch, the longest targets first.
        seed: an integer, 0 or more; the same seed gives the same batches.
        epoch: number of the first epoch.
        pad_to_multiple: lengths are rounded up to multiples of this. XLA then sees
            fewer shapes, and there is more padding: see `plan_batches`.

    Returns:
        `tf.data.Dataset` of `({"source": [batch, source], "target": [batch, target]},
        labels [batch, target])`, int32. The source ends with the end token, `target`
        begins with the start token, the labels end with the end token. Call
        `fit(dataset, shuffle=False)`; without `shuffle=False`, Keras warns that it
        does not shuffle a dataset.

    Example:
        >>> encoded = EncodedPairs.of([[5, 6], [7]], [[5], [6, 7]])
        >>> dataset = batches(encoded, batch_size=2, shuffle=False)
        >>> for inputs, labels in dataset:
        ...     print(inputs["source"].numpy())
        ...     print(inputs["target"].numpy())
        ...     print(labels.numpy())
        [[7 2 0]
         [5 6 2]]
        [[1 6 7]
         [1 5 0]]
        [[6 7 2]
         [5 2 0]]

        Other ids in every epoch, e.g. random subwords of `encode(..., sample=True)`:

        >>> def changing(epoch):
        ...     return EncodedPairs.of([[5 + epoch]], [[6]])
        >>> dataset = batches(changing, batch_tokens=2000)
        >>> for epoch in range(2):
        ...     print(*(inputs["source"].numpy() for inputs, labels in dataset))
        [[5 2]]
        [[6 2]]
    """
    check_count("batches", "seed", seed, 0)
    check_count("batches", "epoch", epoch, 0)
    check_sizes(batch_tokens, batch_size, pad_to_multiple)
    sizes = {"batch_size": batch_size, "pad_to_multiple": pad_to_multiple}

    def planned(encoded):
        return encoded, plan_batches(encoded, batch_tokens, **sizes)

    if callable(encoded):
        first = [planned(encoded(epoch))]  # tf.data would change the type of an error
        epochs = _Epochs(
            lambda n: first.pop() if first else planned(encoded(n)),
            *(shuffle, seed, epoch),
        )
    else:
        both = planned(encoded)
        epochs = _Epochs(lambda n: both, shuffle, seed, epoch)
    dataset = tf.data.Dataset.from_tensors(0).flat_map(lambda _: epochs.next())
    if not callable(encoded):
        size = tf.data.experimental.assert_cardinality(len(both[1]))
        dataset = dataset.apply(size)
    return untuned(dataset.prefetch(_PREFETCHED))


def untuned(dataset):
    """Switch off the thread that tunes a dataset: this one has nothing to tune.

    The thread sleeps 10, 20, 40, ... milliseconds, and the end of an iterator waits
    until it wakes: an epoch of `fit` would end after 20.5, 41 or 82 seconds.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


class _Epochs:
    """Makes a dataset for each epoch.

    `Dataset.from_generator` would be easier to read. But then TensorFlow makes the C
    library return freed memory at once, in the whole process (2.21,
    generator_dataset_op.cc), and a training step waits for thousands of page faults.
    """

    def __init__(self, planned, shuffle, seed, epoch):
        self.planned, self.shuffle = planned, shuffle
        self.seed, self.epoch = seed, epoch
        # Two epochs: one iterator may be unfinished when another one begins.
        self._epoch_batches = functools.lru_cache(maxsize=2)(self._make_epoch)

    def next(self):
        """Return the dataset of the epoch that is next when its first batch is read."""
        epoch, size = tf.numpy_function(self._begin, [], [tf.int64] * 2)
        return tf.data.Dataset.range(size).map(lambda step: self._tensors(epoch, step))

    def _begin(self):
        _, batches = self._epoch_batches(self.epoch)
        return np.int64(self.epoch), np.int64(len(batches))

    def _make_epoch(self, epoch):
        """Return the pairs, and `(indices, source length, target length)` by batch."""
        encoded, plan = self.planned(epoch)
        random = np.random.default_rng([self.seed, epoch]) if self.shuffle else None
        indices = plan.indices(random)
        order = random.permutation(len(plan)) if self.shuffle else range(len(plan))
        lengths = plan.source_lengths, plan.target_lengths
        return encoded, [(indices[n], *(x[n] for x in lengths)) for n in order]

    def _tensors(self, epoch, step):
        ids = tf.numpy_function(self._batch, [epoch, step], [tf.int32] * 3)
        source, target, labels = (tf.ensure_shape(x, [None, None]) for x in ids)
        return {"source": source, "target": target}, labels

    def _batch(self, epoch, step):
        encoded, batches = self._epoch_batches(int(epoch))
        batch = _batch(encoded, *batches[step])
        if step + 1 == len(batches):
            self.epoch = int(epoch) + 1
        return batch


def _batch(encoded, indices, source_length, target_length):
    rows = np.arange(len(indices))
    tokens = encoded.source_tokens
    source, lengths = encoded.source.padded(indices, source_length, tokens.pad)
    source[rows, lengths] = tokens.end
    tokens = encoded.target_tokens
    labels, lengths = encoded.target.padded(indices, target_length, tokens.pad)
    target = np.full_like(labels, tokens.start)
    target[:, 1:] = labels[:, :-1]
    labels[rows, lengths] = tokens.end
    return source, target, labels
