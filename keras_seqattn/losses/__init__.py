"""Losses of tokens, for `compile(loss=...)`."""

from keras_seqattn.losses.fused_crossentropy import FusedCrossentropy
from keras_seqattn.losses.smoothed_crossentropy import SmoothedCrossentropy

__all__ = [
    "FusedCrossentropy",
    "SmoothedCrossentropy",
]
