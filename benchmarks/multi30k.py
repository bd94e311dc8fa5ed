"""Training on real batches of Multi30k: target subwords a second, padding not counted.

The reference model on both sides, same weights. Ours reads the batches that
`data.batches` makes of the corpus; the rival what the tutorials make: 64 random
sentences, padded to the longest one. KERAS_SEQATTN_DATA names the folder with the
corpus in `multi30k`.
"""

import keras
import numpy as np

import keras_seqattn as ks
from benchmarks.reference import BATCH, VOCABULARY
from benchmarks.registry import Contest, benchmark
from benchmarks.train_step import TOLERANCES, contender, same_weights

BATCHES = 16  # in one repetition


@benchmark
def multi30k_training():
    """Training steps on Multi30k, English to German, joint BPE of 8000."""
    keras.utils.set_random_seed(1409)
    encoded = _encoded()
    naive = _random_batches(encoded)
    batches = {"keras_seqattn": _our_batches(encoded, naive), "keras.layers.RNN": naive}
    inputs, labels = naive[0]
    ours, *rivals = (
        _trained(contender(*made, inputs, labels), made[1], batches[made[0]])
        for made in same_weights(inputs, mask_zero=True)
    )
    notes = tuple(f"{name}: {_padding(b)}" for name, b in batches.items())
    return Contest(ours, rivals, TOLERANCES, notes=notes)


def _encoded():
    task = ks.data.multi30k()
    text = ks.SentencePiece.learn(
        task.train.source + task.train.target, VOCABULARY, kind="bpe"
    )
    return ks.data.encode(task.train, text, text)


def _our_batches(encoded, naive):
    """As many positions in a batch as the rival has, padding included.

    They are the first ones of an epoch, which comes in random order.
    """
    positions = int(np.mean([labels.size for _, labels in naive]))
    dataset = ks.data.batches(encoded, positions, seed=1409)
    return list(dataset.take(BATCHES).as_numpy_iterator())


def _random_batches(encoded):
    order = np.random.default_rng(1409).permutation(len(encoded))
    batches = []
    for rows in np.split(order[: BATCH * BATCHES], BATCHES):
        # All in one batch: what is padded is what they need.
        [batch] = ks.data.batches(
            encoded.select(rows), batch_size=BATCH, shuffle=False
        ).as_numpy_iterator()
        batches.append(batch)
    return batches


def _trained(contender, model, batches):
    def step():
        for inputs, labels in batches:
            model.train_on_batch(inputs, labels)

    tokens = sum(int(np.sum(labels > 0)) for _, labels in batches)
    return contender._replace(step=step, tokens=tokens)


def _padding(batches):
    real = sum(int(np.sum(labels > 0)) for _, labels in batches)
    share = 1 - real / sum(labels.size for _, labels in batches)
    return f"{share:.0%} of the target positions are padding"
