"""The test kit of the library, which also tests your own layers.

    from keras_seqattn.testing import Case, checks_for

A `Case` defines how to create a layer and its inputs. `checks_for(case)` returns the
functions that check the contract, which all layers of the library keep.
"""

from keras_seqattn.testing.case import Case, sample, save_and_load
from keras_seqattn.testing.compare import gradients, same, same_gradients
from keras_seqattn.testing.contract import check_precision, checks_for
from keras_seqattn.testing.implementations import check_implementations
from keras_seqattn.testing.sequences import (
    PADDED_ATTENTION,
    PADDED_DECODER,
    PADDED_ENCODER,
    attention_arguments,
    attention_stepwise,
    decoder_arguments,
    decoder_stepwise,
    encoder_arguments,
)

__all__ = [
    "Case",
    "PADDED_ATTENTION",
    "PADDED_DECODER",
    "PADDED_ENCODER",
    "attention_arguments",
    "attention_stepwise",
    "check_implementations",
    "check_precision",
    "checks_for",
    "decoder_arguments",
    "decoder_stepwise",
    "encoder_arguments",
    "gradients",
    "same",
    "same_gradients",
    "sample",
    "save_and_load",
]
