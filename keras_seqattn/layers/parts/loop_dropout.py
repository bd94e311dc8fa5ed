"""Dropout that works inside of a loop over time."""

import keras
from keras import ops

from keras_seqattn.ops.loop_ops import drawn, in_loop


class LoopDropout(keras.layers.Dropout):
    """`keras.layers.Dropout` whose mask a fast loop can keep."""

    def call(self, inputs, training=False):
        if not (training and self.rate and in_loop()):
            return super().call(inputs, training=training)
        return inputs * drawn(lambda: self._mask(inputs), inputs)

    def _mask(self, like):
        return super().call(ops.ones_like(like), training=True)
