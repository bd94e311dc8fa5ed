"""Callbacks for `model.fit`."""

from keras_seqattn.callbacks.attention_callback import AttentionCallback
from keras_seqattn.callbacks.divergence_guard import DivergenceGuard
from keras_seqattn.callbacks.validation import Validation

__all__ = [
    "AttentionCallback",
    "DivergenceGuard",
    "Validation",
]
