"""Additive attention over whole sequences, forward and backward pass."""

import keras
import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from benchmarks.contender import Contender


def attention(implementation, batch, length, units):
    """Return a contender; context, alignment and all gradients must agree."""
    step = gradients(implementation, batch, length, units)

    def results():
        outputs, found = step()
        return {**outputs, **{f"gradient of {x}": g for x, g in found.items()}}

    return Contender(step, results)


def gradients(implementation, batch, length, units):
    """Return a function without arguments: context, alignment and all gradients.

    Half of the sentences are padded; sizes are unknown to the graph, as in `fit`.
    """
    rng = np.random.default_rng(1409)
    query, value = (
        tf.constant(rng.normal(size=(batch, length, units)), tf.float32)
        for _ in range(2)
    )
    mask = tf.constant(np.arange(length) < length - np.arange(batch)[:, None] % 2)
    layer = ks.BahdanauAttention(
        units,
        implementation=implementation,
        kernel_initializer=keras.initializers.GlorotUniform(1409),
    )
    layer.build(query.shape, value.shape)
    sequence = tf.TensorSpec((None, None, units))
    signature = [sequence, sequence, tf.TensorSpec((None, None), tf.bool)]

    @tf.function(input_signature=signature, autograph=False)
    def step(query, value, mask):
        with tf.GradientTape() as tape:
            tape.watch([query, value])
            context, alignment = layer(
                query, value, value_mask=mask, return_attention_scores=True
            )
            loss = tf.reduce_sum(context**2)
        of = {"query": query, "value": value}
        of |= {weight.name: weight.value for weight in layer.trainable_weights}
        return {"context": context, "alignment": alignment}, tape.gradient(loss, of)

    step.get_concrete_function()
    return lambda: step(query, value, mask)
