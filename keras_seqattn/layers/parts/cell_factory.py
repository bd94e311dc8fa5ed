"""Which recurrent cell stands behind the argument `cell` of a decoder cell."""

from keras_seqattn.checks import check_choice
from keras_seqattn.layers.parts.cell_dropout import CellDropout
from keras_seqattn.layers.parts.keras_cell import KerasCell
from keras_seqattn.layers.parts.named_cell import (
    GATES,
    NORMALIZED,
    NamedCell,
    NormalizedCell,
)

NAMES = (*GATES, *NORMALIZED)


def split_cell(cell, units, owner, seed=None, **kwargs):
    """The cell for a name, or around a copy of a Keras RNN cell.

    Args:
        cell: "gru" (Keras's and cuDNN's), "gru_paper" (Bahdanau et al.), "lstm",
            "simple", "layer_norm_gru", "layer_norm_lstm", or the `Template` of a Keras
            RNN cell, which then runs as it is.
        units: size of the output.
        owner: the layer whose argument this is, for its dtype, initializers, dropout
            and name.
        seed: of its dropout.
        **kwargs: of `keras.layers.Layer`.
    """
    kwargs["dtype"] = owner.dtype_policy
    kwargs["dropout"] = CellDropout(owner, seed, name="dropout")
    if not isinstance(cell, str):
        return KerasCell(cell.new(), units, **kwargs)
    check_choice(type(owner).__name__, "cell", cell, NAMES)
    made = NormalizedCell if cell in NORMALIZED else NamedCell
    return made(units, cell, owner, **kwargs)
