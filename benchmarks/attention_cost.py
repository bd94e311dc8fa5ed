"""The cost of attention: time of a training step over the length, with and without.

Without attention, the decoder reads the final state of the encoder: m + t steps for m
source and t target tokens. With attention, every step reads all annotations: m times t.
"""

import keras
import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from benchmarks import ours, sizes
from benchmarks.contender import Contender


def training(size, attention, steps=1):
    """Return a contender that trains a model with or without attention."""
    keras.utils.set_random_seed(sizes.SEED)
    head = ks.layers.OutputHead(size.vocabulary)
    cell = None if attention else ks.layers.ContextCell(size.units)
    model = ours.seq2seq(size, head, cell)
    model.compile(ks.optimizers.FusedAdam(), ks.losses.SmoothedCrossentropy(0.0))
    source, target, labels = sizes.batch(size)
    data = {"source": source, "target": target}, labels
    dataset = tf.data.Dataset.from_tensors(data).repeat()

    def fit():
        return model.fit(
            dataset, steps_per_epoch=steps, shuffle=False, verbose=0
        ).history["loss"]

    def results():
        return {"loss": np.array(fit())}

    return Contender(fit, results)
