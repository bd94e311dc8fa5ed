"""Dropout that may stand in a loop over time."""

import keras
from keras import ops

from keras_seqattn.ops.products import drawn, in_loop


class LoopDropout(keras.layers.Dropout):
    """`keras.layers.Dropout`; in a loop, its mask is a tensor that can be kept."""

    def call(self, inputs, training=False):
        if not (training and self.rate and in_loop()):
            return super().call(inputs, training=training)
        return inputs * drawn(lambda: self._mask(inputs), inputs)

    def _mask(self, like):
        return super().call(ops.ones_like(like), training=True)
