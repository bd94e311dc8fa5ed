"""The model of `keras_rnn` as a plain sketch in TensorFlow: `tf.scan` moves the cells.

The same layers and cells; the loops, and their gradients, are those of `tf.scan`.
"""

import keras
import tensorflow as tf

from benchmarks.rivals import keras_rnn


class ScanSeq2Seq(keras_rnn.KerasSeq2Seq):
    """Bidirectional GRU and attention, each a `tf.scan`."""

    def call(self, inputs):
        source, target = inputs["source"], inputs["target"]
        mask = self.source_embedding.compute_mask(source)
        values, state = self._encode(self.source_embedding(source), mask)
        self.cell.set_memory(values, self.key_layer(values), mask)
        embedded = self.target_embedding(target)
        outputs, _ = scanned(self.cell, embedded, self.bridge(state))
        return self.logits(self.hidden(outputs))

    def _encode(self, embedded, mask):
        """Return the values of both directions, and their concatenated last states."""
        layers = self.encoder.forward_layer, self.encoder.backward_layer
        start = tf.zeros((tf.shape(embedded)[0], layers[0].units), embedded.dtype)
        forward, last = scanned(layers[0].cell, embedded, start, mask)
        turned = [None if x is None else x[:, ::-1] for x in (embedded, mask)]
        backward, first = scanned(layers[1].cell, turned[0], start, turned[1])
        values = tf.concat([forward, backward[:, ::-1]], axis=-1)
        return values, tf.concat([last, first], axis=-1)


def scanned(cell, inputs, state, mask=None):
    """Return outputs `[batch, time, ...]` and the last state; masked steps keep it."""

    def step(past, now):
        _, state = past
        x, real = now
        output, new = cell(x, [state])
        return output, tf.where(real, keras.tree.flatten(new)[0], state)

    mask = tf.ones(tf.shape(inputs)[:2], "bool") if mask is None else mask
    given = _swap(inputs), _swap(mask)[..., None]
    width = getattr(cell, "output_size", cell.units)
    start = tf.zeros((tf.shape(inputs)[0], width), inputs.dtype), state
    outputs, states = tf.scan(step, given, start)
    return _swap(outputs), states[-1]


def _swap(x):
    return tf.transpose(x, [1, 0, *range(2, len(x.shape))])


def compiled(size, masked):
    """Return the model with Keras's loss and Adam, and its variables by name."""
    model, variables = keras_rnn.compiled(size, masked, ScanSeq2Seq)
    # Keras's masks do not travel through a scan.
    loss = keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, ignore_class=0 if masked else None
    )
    model.compile(keras.optimizers.Adam(), loss)
    return model, variables
