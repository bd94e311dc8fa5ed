"""The reference model's sizes, and its weights by names that all contenders share."""

import keras
import numpy as np
import tensorflow as tf

BATCH, LENGTH, EMBEDDING, UNITS, VOCABULARY = 64, 16, 256, 512, 8000


def weights_of_ours(layers):
    """Our variables by the rivals' names; a tuple is what a rival holds as one.

    Args:
        layers: by name: the embeddings, "encoder", "bridge", "decoder", and of the head
            "hidden" and "logits".
    """
    encoder, decoder = layers["encoder"], layers["decoder"]
    [bridge] = layers["bridge"].projections
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
        weights[name] = layers[name].embeddings
    for name in ("hidden", "logits"):
        weights[f"{name}.kernel"] = layers[name].kernel
        weights[f"{name}.bias"] = layers[name].bias
    for layer in encoder.forward_layers + encoder.backward_layers:
        direction = layer.name.split("_")[0]
        weights.update(gru_weights(f"encoder.{direction}", layer.cell))
    return weights


def gru_weights(name, cell):
    return {
        f"{name}.kernel": cell.kernel,
        f"{name}.recurrent_kernel": cell.recurrent_kernel,
        f"{name}.bias": cell.bias,
    }


def joined(value, shape):
    """What we hold in parts (a tuple) as the one array of the rival's shape."""
    parts = value if isinstance(value, tuple) else (value,)
    parts = [np.asarray(tf.convert_to_tensor(part)) for part in parts]
    return np.concatenate([p.reshape(-1, shape[-1]) for p in parts]).reshape(shape)


def values(weight):
    return tuple(v.value for v in weight) if isinstance(weight, tuple) else weight.value


def make_attention_matter(weights):
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


def check_complete(*models):
    """A weight that was not copied, or not compared, would make the gate worthless."""
    for model, weights in models:
        named = {id(variable) for variable in keras.tree.flatten(weights)}
        left = [v.path for v in model.trainable_variables if id(v) not in named]
        if left:
            raise ValueError(
                f"{type(model).__name__} has weights without a name in the comparison. "
                f"Expected none, received {left}. Name them beside the others."
            )
