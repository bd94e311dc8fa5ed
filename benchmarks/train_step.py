"""One training step of the reference model, by `train_on_batch`.

Reference size: batch 64, source = target = 16, embedding 256, units 512 (each direction
of the encoder too), vocabulary 8000; bidirectional GRU, additive attention, Adam. Ours
takes the library's loss and Adam, the rival those of Keras.
"""

import keras
import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from benchmarks.reference import (
    BATCH,
    EMBEDDING,
    LENGTH,
    UNITS,
    VOCABULARY,
    check_complete,
    gru_weights,
    joined,
    make_attention_matter,
    values,
    weights_of_ours,
)
from benchmarks.registry import Contender, Contest, Tolerance, benchmark
from benchmarks.rivals.keras_rnn_cell import KerasSeq2Seq

LOSSES_COMPARED = 5
TOLERANCES = [
    Tolerance("logits", 1e-4),
    Tolerance("loss", 1e-3),  # Keras squares the gradients of a repeated row apart
    Tolerance("gradient", 1e-4),
]


@benchmark
def train_step():
    """Reference size, every position real, no masks."""
    return _contest(mask_zero=False)


@benchmark
def train_step_masked():
    """Reference size, sentences of 8 to 16 tokens, masks everywhere."""
    return _contest(mask_zero=True)


def our_model(mask_zero):
    """The reference model, composed of our layers as the README composes them."""

    def embedding(name):
        return keras.layers.Embedding(
            VOCABULARY, EMBEDDING, mask_zero=mask_zero, name=name
        )

    source = keras.Input((None,), dtype="int32", name="source")
    target = keras.Input((None,), dtype="int32", name="target")
    embedded_source = embedding("source_embedding")(source)
    embedded_target = embedding("target_embedding")(target)
    encoded = ks.BiEncoder(UNITS, cell="gru", name="encoder")(embedded_source)
    state = ks.DenseBridge(UNITS, name="bridge")(encoded)
    cell = ks.BahdanauCell(UNITS, attention=ks.BahdanauAttention(UNITS), cell="gru")
    outputs = ks.AttentionDecoder(cell, name="decoder")(
        embedded_target,
        encoded.values,
        initial_state=state,
        value_mask=encoded.mask if mask_zero else None,
    )
    hidden = keras.layers.Dense(UNITS, activation="tanh", name="hidden")(outputs)
    logits = keras.layers.Dense(VOCABULARY, name="logits")(hidden)
    return keras.Model({"source": source, "target": target}, logits)


def weights_of_rival(model):
    cell = model.cell
    weights = {
        "source_embedding": model.source_embedding.embeddings,
        "target_embedding": model.target_embedding.embeddings,
        "key.kernel": model.key_layer.kernel,
        "query.kernel": cell.query_layer.kernel,
        "score.kernel": cell.score_layer.kernel,
        **gru_weights("encoder.forward", model.encoder.forward_layer.cell),
        **gru_weights("encoder.backward", model.encoder.backward_layer.cell),
        **gru_weights("decoder", cell.gru),
    }
    for name in ("bridge", "hidden", "logits"):
        weights[f"{name}.kernel"] = getattr(model, name).kernel
        weights[f"{name}.bias"] = getattr(model, name).bias
    return weights


def _contest(mask_zero):
    keras.utils.set_random_seed(1409)
    inputs, labels = _data(mask_zero)
    ours, *rivals = (
        contender(*made, inputs, labels) for made in same_weights(inputs, mask_zero)
    )
    return Contest(ours, rivals, TOLERANCES)


def same_weights(inputs, mask_zero):
    """Ours and the rival: name, model, weights by name, and the shapes they share."""
    ours = our_model(mask_zero)
    rival = KerasSeq2Seq(VOCABULARY, EMBEDDING, UNITS, mask_zero)
    rival(inputs)
    names_ours = weights_of_ours({layer.name: layer for layer in ours.layers})
    names_rival = weights_of_rival(rival)
    make_attention_matter(names_ours)
    for name, variable in names_rival.items():
        variable.assign(joined(values(names_ours[name]), variable.shape))
    shapes = {name: tuple(variable.shape) for name, variable in names_rival.items()}
    check_complete((ours, names_ours), (rival, names_rival))
    return [
        ("keras_seqattn", ours, names_ours, shapes),
        ("keras.layers.RNN", rival, names_rival, shapes),
    ]


def contender(name, model, weights, shapes, inputs, labels):
    if name == "keras_seqattn":
        loss, optimizer = ks.SmoothedCrossentropy(0.0), ks.FusedAdam()
    else:
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        optimizer = keras.optimizers.Adam()
    model.compile(optimizer, loss)

    @tf.function
    def gradients():
        variables = [getattr(v, "value", v) for v in tf.nest.flatten(weights)]
        with tf.GradientTape() as tape:
            logits = model(inputs, training=True)
            mean = loss(labels, logits)
        found = tape.gradient(mean, variables)
        return logits, tf.nest.pack_sequence_as(weights, found)

    def results():
        logits, found = gradients()
        real = tf.cast(labels > 0, logits.dtype)  # elsewhere the two may differ
        answer = {"logits": logits * real[..., None]}
        for weight, shape in shapes.items():
            answer[f"gradient of {weight}"] = joined(found[weight], shape)
        for i in range(LOSSES_COMPARED):
            answer[f"loss {i}"] = model.train_on_batch(inputs, labels)
        return answer

    return Contender(name, lambda: model.train_on_batch(inputs, labels), results)


def _data(mask_zero):
    rng = np.random.default_rng(1409)
    tokens = rng.integers(1, VOCABULARY, (3, BATCH, LENGTH), dtype="int32")
    if mask_zero:
        lengths = rng.integers(LENGTH // 2, LENGTH + 1, (3, BATCH, 1))
        lengths[2] = lengths[1]  # the labels are the target, shifted
        tokens = np.where(np.arange(LENGTH) < lengths, tokens, 0).astype("int32")
    source, target, labels = tokens
    return {"source": source, "target": target}, labels
