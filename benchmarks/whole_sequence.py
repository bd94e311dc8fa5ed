"""Additive attention over whole sequences, forth and back: fast beside readable."""

import keras
import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from benchmarks.registry import Contender, Contest, Tolerance, benchmark

TOLERANCES = [Tolerance("", 1e-5)]


@benchmark
def whole_sequence_short():
    """Attention of 64 sentences, 16 queries to 16 positions, units 512."""
    return _contest(batch=64, length=16, units=512)


@benchmark
def whole_sequence_long():
    """Attention of 8 sentences, 200 queries to 200 positions, units 256."""
    return _contest(batch=8, length=200, units=256)


def gradients(implementation, batch, length, units):
    """A function without arguments: context, alignment and all gradients.

    Half of the sentences are padded; sizes are unknown to the graph, as in `fit`.
    """
    rng = np.random.default_rng(1409)
    query, value = (
        tf.constant(rng.normal(size=(batch, length, units)), tf.float32)
        for _ in range(2)
    )
    mask = tf.constant(np.arange(length) < length - np.arange(batch)[:, None] % 2)
    attention = ks.BahdanauAttention(
        units,
        implementation=implementation,
        kernel_initializer=keras.initializers.GlorotUniform(1409),
    )
    attention.build(query.shape, value.shape)
    sequence = tf.TensorSpec((None, None, units))
    signature = [sequence, sequence, tf.TensorSpec((None, None), tf.bool)]

    @tf.function(input_signature=signature, autograph=False)
    def step(query, value, mask):
        with tf.GradientTape() as tape:
            tape.watch([query, value])
            context, alignment = attention(
                query, value, value_mask=mask, return_attention_scores=True
            )
            loss = tf.reduce_sum(context**2)
        of = {"query": query, "value": value}
        of |= {weight.name: weight.value for weight in attention.trainable_weights}
        return {"context": context, "alignment": alignment}, tape.gradient(loss, of)

    step.get_concrete_function()
    return lambda: step(query, value, mask)


def _contest(**sizes):
    fast, readable = (
        _contender(f"implementation={which!r}", gradients(which, **sizes))
        for which in ("auto", "reference")
    )
    return Contest(fast, [readable], TOLERANCES)


def _contender(name, step):
    def results():
        outputs, found = step()
        return {**outputs, **{f"gradient of {x}": g for x, g in found.items()}}

    return Contender(name, step, results)
