"""Layer normalisation of the gates of a recurrent cell: gain and bias."""

import keras

from keras_seqattn.ops.cell import normalize_gates


class GateNorm(keras.layers.Layer):
    """`gain * (x - mean) / sqrt(variance + 1e-5) + bias`, each gate by itself.

    Args:
        units: size of each gate.
        gates: number of gates on the last axis.
        bias_initializer: of the bias; the gain starts at 1.
        **kwargs: of `keras.layers.Layer`.
    """

    def __init__(self, units, gates=1, bias_initializer="zeros", **kwargs):
        super().__init__(**kwargs)
        self.units, self.gates = units, gates
        self.bias_initializer = bias_initializer

    def build(self, inputs_shape=None):
        size = (self.gates * self.units,)
        options = {"shape": size, "autocast": False}  # multiplied in float32
        self.gain = self.add_weight(initializer="ones", name="gain", **options)
        self.bias = self.add_weight(
            initializer=self.bias_initializer, name="bias", **options
        )

    def call(self, inputs):
        return normalize_gates(inputs, self.gain, self.bias, self.gates)


def forget_gates_open(bias_initializer="zeros"):
    """Initializer of an LSTM's bias: 1 for the forget gate (Jozefowicz et al. 2015).

    The other three gates use `bias_initializer`, as in Keras.
    """
    others = keras.initializers.get(bias_initializer)

    def initializer(shape, dtype=None):
        units = shape[0] // 4
        return keras.ops.concatenate(
            [
                others((units,), dtype=dtype),
                keras.ops.ones((units,), dtype),
                others((2 * units,), dtype=dtype),
            ]
        )

    return initializer
