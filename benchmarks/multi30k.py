"""Training on real batches of Multi30k: target subwords a second, padding not counted.

Both contenders train the same model from the same weights. Ours reads the batches of
`data.batches`. A rival reads the same batches, or those of tutorials: 64 random
sentences, padded to the longest one. KERAS_SEQATTN_DATA names the folder with the
corpus in `multi30k`.
"""

import keras
import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from benchmarks import keras_fit, ours
from benchmarks.corpus import encoded
from benchmarks.rivals import keras_rnn, scan_loop
from benchmarks.sizes import REFERENCE, SEED
from keras_seqattn.data.batch_dataset import untuned

BATCHES = 16  # in one repetition


def with_ours(size=REFERENCE, policy="float32", jit_compile=False):
    """Return a contender: our model on our batches."""
    keras.config.set_dtype_policy(policy)
    made = ours.compiled(size, masked=True, jit_compile=jit_compile)
    return _contender(made, _our_batches(), size)


def with_keras(size=REFERENCE):
    """Return a contender: the rival on random batches."""
    made = keras_rnn.compiled(size, masked=True)
    return _contender(made, _random_batches(encoded()), size)


def with_scan(size=REFERENCE):
    """Return a contender: a short plain model on our batches."""
    return _contender(scan_loop.compiled(size, masked=True), _our_batches(), size)


def _contender(made, batches, size):
    """Return a contender, compared on random ids as in `train_step_masked`."""
    contender = keras_fit.contender(*made, size, masked=True)
    dataset, [model, _] = in_memory(batches), made
    tokens = sum(int(np.sum(labels > 0)) for _, labels in batches)
    return contender._replace(
        step=lambda: model.fit(dataset, shuffle=False, verbose=0),
        tokens=tokens,
        flops=None,
        notes=(_padding(tokens, batches),),
    )


def in_memory(batches):
    """Return a dataset of existing batches, of any lengths."""
    flat = [tf.nest.flatten(batch) for batch in batches]

    def batch(n):
        # No generator: it slows the whole process down, see `data/batch_dataset.py`.
        tensors = tf.numpy_function(lambda n: flat[n], [n], [x.dtype for x in flat[0]])
        tensors = [tf.ensure_shape(x, [None, None]) for x in tensors]
        return tf.nest.pack_sequence_as(batches[0], tensors)

    return untuned(tf.data.Dataset.range(len(batches)).map(batch).cache())


def _our_batches():
    """Return batches with as many positions, padding included, as random ones.

    They are the first batches of a shuffled epoch.
    """
    found = encoded()
    naive = _random_batches(found)
    positions = int(np.mean([labels.size for _, labels in naive]))
    dataset = ks.data.batches(found, positions, seed=SEED)
    return list(dataset.take(BATCHES).as_numpy_iterator())


def _random_batches(found):
    order = np.random.default_rng(SEED).permutation(len(found))
    size, batches = REFERENCE.batch, []
    for rows in np.split(order[: size * BATCHES], BATCHES):
        # All rows are one batch, padded to its longest sentence.
        [batch] = ks.data.batches(
            found.select(rows), batch_size=size, shuffle=False
        ).as_numpy_iterator()
        batches.append(batch)
    return batches


def _padding(real, batches):
    share = 1 - real / sum(labels.size for _, labels in batches)
    return f"{share:.0%} of the target positions are padding"
