"""One training step of the reference model, by `train_on_batch`.

Reference size: batch 64, source = target = 16, embedding 256, units 512 (each direction
of the encoder too), vocabulary 8000; bidirectional GRU, additive attention, Adam.
"""

import keras
import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from benchmarks.registry import Contender, Contest, Tolerance, benchmark
from benchmarks.rivals.keras_rnn_cell import KerasSeq2Seq

BATCH, LENGTH, EMBEDDING, UNITS, VOCABULARY = 64, 16, 256, 512, 8000
LOSSES_COMPARED = 5


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


def weights_of_ours(model):
    """Our variables by the rival's names; a tuple is what the rival holds as one."""
    encoder, decoder = model.get_layer("encoder"), model.get_layer("decoder")
    [bridge] = model.get_layer("bridge").projections
    recurrence, attention = decoder.cell.recurrence.cells[0], decoder.cell.attention
    weights = {
        "bridge.kernel": bridge.kernel,
        "bridge.bias": bridge.bias,
        "key.kernel": attention.key_projection.kernel,
        "query.kernel": attention.query_projection.kernel,
        "score.kernel": attention.v,
        "decoder.kernel": (
            recurrence.input_kernel.kernel,
            recurrence.fed_kernel.kernel,
        ),
        "decoder.recurrent_kernel": recurrence.recurrent_kernel.kernel,
        "decoder.bias": (
            recurrence.input_kernel.bias,
            recurrence.recurrent_kernel.bias,
        ),
    }
    for name in ("source_embedding", "target_embedding"):
        weights[name] = model.get_layer(name).embeddings
    for name in ("hidden", "logits"):
        weights[f"{name}.kernel"] = model.get_layer(name).kernel
        weights[f"{name}.bias"] = model.get_layer(name).bias
    for layer in encoder.forward_layers + encoder.backward_layers:
        direction = layer.name.split("_")[0]
        weights.update(_gru(f"encoder.{direction}", layer.cell))
    return weights


def weights_of_rival(model):
    cell = model.cell
    weights = {
        "source_embedding": model.source_embedding.embeddings,
        "target_embedding": model.target_embedding.embeddings,
        "key.kernel": model.key_layer.kernel,
        "query.kernel": cell.query_layer.kernel,
        "score.kernel": cell.score_layer.kernel,
        **_gru("encoder.forward", model.encoder.forward_layer.cell),
        **_gru("encoder.backward", model.encoder.backward_layer.cell),
        **_gru("decoder", cell.gru),
    }
    for name in ("bridge", "hidden", "logits"):
        weights[f"{name}.kernel"] = getattr(model, name).kernel
        weights[f"{name}.bias"] = getattr(model, name).bias
    return weights


def _gru(name, cell):
    return {
        f"{name}.kernel": cell.kernel,
        f"{name}.recurrent_kernel": cell.recurrent_kernel,
        f"{name}.bias": cell.bias,
    }


def _joined(value, shape):
    """What we hold in parts (a tuple) as the one array of the rival's shape."""
    parts = value if isinstance(value, tuple) else (value,)
    parts = [np.asarray(tf.convert_to_tensor(part)) for part in parts]
    return np.concatenate([p.reshape(-1, shape[-1]) for p in parts]).reshape(shape)


def _contest(mask_zero):
    keras.utils.set_random_seed(1409)
    inputs, labels = _data(mask_zero)
    ours = our_model(mask_zero)
    rival = KerasSeq2Seq(VOCABULARY, EMBEDDING, UNITS, mask_zero)
    rival(inputs)
    names_ours, names_rival = weights_of_ours(ours), weights_of_rival(rival)
    _make_attention_matter(names_ours)
    for name, variable in names_rival.items():
        variable.assign(_joined(_values(names_ours[name]), variable.shape))
    shapes = {name: tuple(variable.shape) for name, variable in names_rival.items()}
    _check_complete((ours, names_ours), (rival, names_rival))
    contenders = [
        _contender(name, model, weights, shapes, inputs, labels)
        for name, model, weights in (
            ("keras_seqattn", ours, names_ours),
            ("keras.layers.RNN", rival, names_rival),
        )
    ]
    tolerances = [
        Tolerance("logits", 1e-4),
        Tolerance("loss", 1e-5),  # of a loss near 9: 1e-4 in absolute terms
        Tolerance("gradient", 1e-4),
    ]
    return Contest(contenders[0], contenders[1:], tolerances)


def _contender(name, model, weights, shapes, inputs, labels):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss)

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
            answer[f"gradient of {weight}"] = _joined(found[weight], shape)
        for i in range(LOSSES_COMPARED):
            answer[f"loss {i}"] = model.train_on_batch(inputs, labels)
        return answer

    return Contender(name, lambda: model.train_on_batch(inputs, labels), results)


def _make_attention_matter(weights):
    """Larger weights than the initial ones, at which alignments are all but uniform:
    there another attention would give the same loss, and the gate would not see it."""
    rng = np.random.default_rng(1410)
    factors = {"embedding": 20.0, "query": 2.0, "key": 2.0, "score": 10.0}
    for name, parts in weights.items():
        for variable in parts if isinstance(parts, tuple) else (parts,):
            value = np.asarray(variable.value)
            if name.endswith("bias"):
                value = value + 0.1 * rng.standard_normal(value.shape)
            for part, factor in factors.items():
                if part in name:
                    value = value * factor
            variable.assign(value)


def _check_complete(*models):
    """A weight that was not copied, or not compared, would make the gate worthless."""
    for model, weights in models:
        named = {id(variable) for variable in keras.tree.flatten(weights)}
        left = [v.path for v in model.trainable_variables if id(v) not in named]
        if left:
            raise ValueError(
                f"{type(model).__name__} has weights without a name in the comparison. "
                f"Expected none, received {left}. Name them in train_step.py."
            )


def _values(weight):
    return tuple(v.value for v in weight) if isinstance(weight, tuple) else weight.value


def _data(mask_zero):
    rng = np.random.default_rng(1409)
    tokens = rng.integers(1, VOCABULARY, (3, BATCH, LENGTH), dtype="int32")
    if mask_zero:
        lengths = rng.integers(LENGTH // 2, LENGTH + 1, (3, BATCH, 1))
        lengths[2] = lengths[1]  # the labels are the target, shifted
        tokens = np.where(np.arange(LENGTH) < lengths, tokens, 0).astype("int32")
    source, target, labels = tokens
    return {"source": source, "target": target}, labels
