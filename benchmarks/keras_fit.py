"""Contenders that train a Keras model with `fit`."""

import keras
import numpy as np
import tensorflow as tf

from benchmarks import flops, sizes
from benchmarks.contender import Contender
from benchmarks.keras_weights import assign, check_complete, joined
from keras_seqattn.data.batch_dataset import untuned

LOSSES_COMPARED = 5


def contender(model, variables, size, masked=False, steps=5):
    """Return a contender: one repetition is one `fit` of `steps` steps on one batch.

    It uses `fit` and not `train_on_batch`, because the loop over a dataset, callbacks
    and logs belong to the cost of a step. There is one step per execution.

    Args:
        model: compiled and built.
        variables: its weights by name; a tuple means one weight of other contenders.
        size: `Size` of the batch.
        masked: whether a part of the batch is padding.
        steps: number of steps in one repetition.
    """
    check_complete(model, variables)
    weights = sizes.weights(size)
    assign(variables, weights)
    source, target, labels = sizes.batch(size, masked)
    inputs = {"source": source, "target": target}
    dataset = tf.data.Dataset.from_tensors((inputs, labels)).repeat()
    dataset = untuned(dataset)  # or ours and the rival's would be measured with waits

    def fit(steps):
        found = model.fit(dataset, steps_per_epoch=steps, shuffle=False, verbose=0)
        return found.history["loss"][0]

    def results():
        answer = gradients(model, variables, weights, inputs, labels)
        for i in range(LOSSES_COMPARED):
            answer[f"loss {i}"] = np.float32(fit(steps=1))
        return answer

    def step_flops():
        step = tf.function(lambda *data: model.train_step(data))
        traced = step.get_concrete_function(inputs, labels)
        return flops.flops(traced, inputs, labels)

    return Contender(
        lambda: fit(steps),
        results,
        tokens=steps * int(np.sum(labels > 0)),
        flops=step_flops,
    )


def gradients(model, variables, weights, inputs, labels):
    """Return the logits of real tokens and the gradients of all weights, by name."""

    @tf.function
    def found():
        plain = keras.tree.map_structure(lambda v: v.value, variables)
        with tf.GradientTape() as tape:
            tape.watch(keras.tree.flatten(plain))
            logits = model(inputs, training=True)
            loss = model.compute_loss(y=labels, y_pred=logits, training=True)
        return logits, tape.gradient(loss, plain)

    logits, gradients = found()
    real = (labels > 0)[..., None]
    answer = {"logits": np.asarray(logits, "float32") * real}
    for name, array in weights.items():
        answer[f"gradient of {name}"] = joined(gradients[name], array.shape)
    return answer
