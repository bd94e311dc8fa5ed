"""Attention for sequences in Keras 3 and TensorFlow, from the lecture to the server.

Every public name has one home, as in Keras: `keras_seqattn.layers.LuongCell`. The few
that nearly every script needs are here as well. `import keras_seqattn` registers every
class that Keras may find in a saved model.
"""

import importlib
import sys

from keras_seqattn import (
    backend,  # noqa: F401, the first: it checks which backend Keras has
    callbacks,
    data,
    decoding,
    layers,
    losses,
    metrics,
    models,
    optimizers,
    tensorboard,
    text,
    translator,
    types,
)
from keras_seqattn.decoding import BeamSearch, Greedy, decode
from keras_seqattn.layers import (
    AttentionDecoder,
    BahdanauAttention,
    BiEncoder,
    LuongAttention,
)
from keras_seqattn.models import Seq2Seq
from keras_seqattn.translator import Translator

__version__ = "0.1.0"

__all__ = [
    "AttentionDecoder",
    "BahdanauAttention",
    "BeamSearch",
    "BiEncoder",
    "Greedy",
    "LuongAttention",
    "Seq2Seq",
    "Translator",
    "callbacks",
    "data",
    "decode",
    "decoding",
    "export",
    "layers",
    "losses",
    "metrics",
    "models",
    "optimizers",
    "serving",
    "tensorboard",
    "testing",
    "text",
    "translator",
    "types",
    "zoo",
]

_ON_FIRST_USE = ("export", "serving", "testing", "zoo")  # no saved model needs them


def __getattr__(name):
    if name in _ON_FIRST_USE:
        return importlib.import_module(f"{__name__}.{name}")
    message = f"module {__name__!r} has no attribute {name!r}"
    homes = [home for home in __all__ if name in _names_of(home)]
    if homes:
        message += f". Its home is {__name__}.{homes[0]}.{name}"
        if sys._getframe(1).f_code.co_name == "_handle_fromlist":
            # `from keras_seqattn import name`: Python replaces an AttributeError by an
            # error of its own, which would not say where the name is.
            raise ImportError(
                f"{message}: write `from {__name__}.{homes[0]} import {name}`."
            )
    raise AttributeError(message)


def _names_of(namespace):
    if namespace in _ON_FIRST_USE:
        return ()
    return getattr(globals()[namespace], "__all__", ())


def __dir__():
    return sorted({*globals(), *__all__})
