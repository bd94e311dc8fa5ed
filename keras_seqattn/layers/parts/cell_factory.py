"""From the argument `cell` of a decoder cell to a recurrent cell."""

from keras_seqattn.checks import check_choice
from keras_seqattn.layers.parts.dropout import CellDropout
from keras_seqattn.layers.parts.keras_cell import KerasCell
from keras_seqattn.layers.parts.named_cell import (
    GATES,
    NORMALIZED,
    NamedCell,
    NormalizedCell,
)

NAMES = (*GATES, *NORMALIZED)


def new_recurrent_cell(cell, units, owner, seed=None, **kwargs):
    """Return a new cell, for a name or around a copy of a Keras RNN cell.

    Args:
        cell: "gru" (Keras's and cuDNN's), "gru_paper" (Bahdanau et al.), "lstm",
            "simple", "layer_norm_gru", "layer_norm_lstm", or the `Template` of a Keras
            RNN cell, of which the new cell has a copy.
        units: size of the output.
        owner: the layer with the argument `cell`. The new cell takes its dtype,
            initializers and dropout.
        seed: of its dropout.
        **kwargs: of `keras.layers.Layer`.
    """
    kwargs["dtype"] = owner.dtype_policy
    kwargs["dropout"] = CellDropout(owner, seed, name="dropout")
    if not isinstance(cell, str):
        return KerasCell(cell.new(), units, **kwargs)
    check_choice(type(owner).__name__, "cell", cell, NAMES)
    cell_class = NormalizedCell if cell in NORMALIZED else NamedCell
    return cell_class(units, cell, owner, **kwargs)
