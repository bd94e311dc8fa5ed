"""Bad choices of an implementation: as in `calls`."""

import keras

import keras_seqattn as ks
from tests.errors.valid_arguments import UNITS, ones

_GOT = "got an unknown implementation. Expected one of ['auto', 'reference', 'fast'], "
_LEAVE = "Pass 'auto', which takes the fast one where it can."
_CALL = "Expected a call that it supports, received one where"
_AUTO = "Pass implementation='auto', which takes the readable one here."

IMPLEMENTATIONS = [
    (
        "unknown implementation of an encoder",
        lambda: ks.BiEncoder(UNITS, implementation="quick"),
        f"BiEncoder {_GOT}received implementation='quick'. {_LEAVE}",
    ),
    (
        "fast encoder of a cell that may do anything",
        lambda: ks.layers.UniEncoder(UNITS, cell=_Cell(UNITS), implementation="fast")(
            ones(2, 3, 4)
        ),
        f"UniEncoder cannot run its fast implementation. {_CALL} _Cell may do "
        f"anything. {_AUTO}",
    ),
]


@keras.saving.register_keras_serializable("tests")
class _Cell(keras.layers.GRUCell):
    """A subclass that the library does not know."""
