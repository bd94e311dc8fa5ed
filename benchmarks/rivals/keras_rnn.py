"""The model as a careful Keras 3 user writes it today, with Keras alone.

`keras.layers.RNN` can neither hand a memory to its cell nor pass on a second output, so
the memory is put on the cell by the model's `call`, just before the loop runs. Careful:
the keys are computed once per source, the readout runs once after the loop, and the
softmax is masked.
"""

import keras
from keras import ops

from benchmarks import keras_fit
from benchmarks.keras_weights import gru_weights


class AttentionGRUCell(keras.layers.Layer):
    """A GRU cell that attends before each step: input `[x; c]`, output `[s; c]`."""

    def __init__(self, units, memory_depth, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units
        self.output_size = units + memory_depth
        self.memory_depth = memory_depth
        self.gru = keras.layers.GRUCell(units)
        self.query_layer = keras.layers.Dense(units, use_bias=False)
        self.score_layer = keras.layers.Dense(1, use_bias=False)
        self.values = self.keys = self.mask = None

    def build(self, input_shape):
        batch, depth = input_shape
        self.gru.build((batch, depth + self.memory_depth))
        self.query_layer.build((batch, self.units))
        self.score_layer.build((batch, None, self.units))

    def set_memory(self, values, keys, mask):
        self.values, self.keys, self.mask = values, keys, mask

    def call(self, inputs, states, training=None):
        query = self.query_layer(states[0])[:, None, :]
        scores = self.score_layer(ops.tanh(query + self.keys))[..., 0]
        if self.mask is not None:
            scores = ops.where(self.mask, scores, -1e9)
        weights = ops.softmax(scores, axis=-1)
        context = ops.matmul(weights[:, None, :], self.values)[:, 0]
        output, states = self.gru(ops.concatenate([inputs, context], axis=-1), states)
        return ops.concatenate([output, context], axis=-1), states


class KerasSeq2Seq(keras.Model):
    """Bidirectional GRU, attention in a `keras.layers.RNN`, readout after it."""

    def __init__(self, vocabulary, embedding, units, mask_zero):
        super().__init__()
        self.source_embedding = keras.layers.Embedding(
            vocabulary, embedding, mask_zero=mask_zero
        )
        self.target_embedding = keras.layers.Embedding(
            vocabulary, embedding, mask_zero=mask_zero
        )
        self.encoder = keras.layers.Bidirectional(
            keras.layers.GRU(units, return_sequences=True, return_state=True)
        )
        self.bridge = keras.layers.Dense(units, activation="tanh")
        self.key_layer = keras.layers.Dense(units, use_bias=False)
        self.cell = AttentionGRUCell(units, memory_depth=2 * units)
        self.decoder = keras.layers.RNN(self.cell, return_sequences=True)
        self.hidden = keras.layers.Dense(units, activation="tanh")
        self.logits = keras.layers.Dense(vocabulary)

    def call(self, inputs):
        source, target = inputs["source"], inputs["target"]
        mask = self.source_embedding.compute_mask(source)
        values, forward, backward = self.encoder(self.source_embedding(source))
        state = self.bridge(ops.concatenate([forward, backward], axis=-1))
        self.cell.set_memory(values, self.key_layer(values), mask)
        outputs = self.decoder(self.target_embedding(target), initial_state=state)
        return self.logits(self.hidden(outputs))


def training(size, masked=False, steps=5):
    """Return a contender that trains it."""
    return keras_fit.contender(*compiled(size, masked), size, masked, steps)


def compiled(size, masked, kind=KerasSeq2Seq):
    """Return the model with Keras's loss and Adam, and its variables by name."""
    model = kind(size.vocabulary, size.embedding, size.units, masked)
    ids = keras.ops.zeros((1, 2), "int32")
    model({"source": ids, "target": ids})  # makes the variables
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(), loss)
    return model, by_name(model)


def by_name(model):
    cell = model.cell
    variables = {
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
        variables[f"{name}.kernel"] = getattr(model, name).kernel
        variables[f"{name}.bias"] = getattr(model, name).bias
    return variables
