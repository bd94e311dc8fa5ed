"""What an epoch draws depends on the epoch alone, so that a run can go on exactly."""

import keras

_STRIDE = 1_000_003  # more draws than a layer makes in an epoch, and odd


class SeedPerEpoch(keras.callbacks.Callback):
    """Sets the random states of all layers anew at the start of each epoch.

    Keras saves them with no weights: after a resumed run has loaded its own, dropout
    would draw again what it drew in the first epoch.
    """

    def on_epoch_begin(self, epoch, logs=None):
        for variable in self.model.variables:
            if variable.path.endswith("seed_generator_state"):
                seed = int(variable.numpy()[0])  # and a counter
                variable.assign([seed, epoch * _STRIDE % 2**32])
