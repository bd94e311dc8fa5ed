"""The time that AttentionCallback adds to an epoch of Multi30k.

It logs eight sentences of the validation set and their references with the reference
model and a beam of five. Both contenders train on the same batches from the same
weights, because the callback must not change weights. KERAS_SEQATTN_DATA names the
folder with the corpus in `multi30k`.
"""

import tempfile

import keras
import numpy as np

import keras_seqattn as ks
from benchmarks import corpus, ours, sizes
from benchmarks.contender import Contender

BATCH_TOKENS = 1500  # 64 sentences
BATCHES = 16  # in one repetition; few, so that the time of the callback is visible
SENTENCES = 8


def epoch(shown):
    """Return a contender: some batches, then pictures of eight sentences if `shown`."""
    dataset = ks.data.batches(corpus.encoded(), BATCH_TOKENS, seed=sizes.SEED)
    batches = dataset.take(BATCHES).cache()
    translator, probe = (
        _translator(),
        corpus.pairs().validation.select(range(SENTENCES)),
    )
    callbacks, notes = [], ()
    if shown:
        callbacks.append(
            ks.callbacks.AttentionCallback(
                translator, probe.source, probe.target, log_dir=tempfile.mkdtemp()
            )
        )
        notes = (
            f"{BATCHES} of {len(dataset)} batches: for a whole epoch, divide the part "
            f"of ours / it that is above 1 by {len(dataset) / BATCHES:.0f}",
        )

    def fit():
        options = {"shuffle": False, "verbose": 0}
        return translator.model.fit(batches, callbacks=callbacks, **options)

    def results():
        losses = np.array([fit().history["loss"] for _ in range(2)])
        weights = enumerate(translator.model.weights)
        return {"losses": losses, **{f"weight {i}": np.array(w) for i, w in weights}}

    return Contender(fit, results, notes=notes)


def _translator():
    keras.utils.set_random_seed(sizes.SEED)
    text, size = corpus.subwords(), sizes.REFERENCE
    model = ours.seq2seq(size, ks.layers.OutputHead(size.vocabulary))
    model.compile("adam", ks.losses.SmoothedCrossentropy())
    return ks.Translator(model, text, text)
