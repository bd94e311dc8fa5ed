"""What the tests of dropout share: rates, and a cell that shows what reached it."""

import keras

RATE = 0.5
KINDS = {
    "dropout": {"dropout": RATE},
    "variational": {"dropout": RATE, "use_variational_dropout": True},
    "recurrent": {"recurrent_dropout": RATE},
}


@keras.saving.register_keras_serializable(package="dropout_cases")
class Echo(keras.layers.Layer):
    """A Keras cell that puts out its input, which is also its state."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = self.output_size = units

    def call(self, inputs, states, training=False):
        return inputs, [inputs]

    def get_config(self):
        return {**super().get_config(), "units": self.units}
