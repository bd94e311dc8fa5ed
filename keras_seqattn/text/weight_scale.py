"""How large a weight is in a drawing: one rule for terminals, figures, pages, the tab.

`tensorboard_plugin_seqattn/static/scale.js` has the same rule; a test compares them.
"""

from typing import NamedTuple

import numpy as np

_TOLERANCE = 1e-3  # of alignments in half precision


class ScaledWeights(NamedTuple):
    """Weights for a drawing, and what it has to say about them."""

    values: np.ndarray  # from 0 to 1; NaN: the weight is not a finite number
    notes: tuple  # sentences; none for an alignment


def scaled(weights):
    """Scale weights by 1, or by the largest one if some are above 1.

    Alignments keep their values, so that drawings of them can be compared. Other
    weights, for example raw scores, are drawn as well, and the notes say how.

    Args:
        weights: array of any shape.

    Returns:
        `ScaledWeights`.

    Example:
        >>> scaled([[0.5, 2.0]])
        ScaledWeights(values=array([[0.25, 1.  ]]), notes=('The alignment is not \
normalised: it is scaled by its largest weight, 2.',))
    """
    weights = np.asarray(weights, "float64")
    weights = np.where(np.isfinite(weights), weights, np.nan)
    largest = np.nanmax(weights, initial=1.0)
    largest = largest if largest > 1.0 + _TOLERANCE else 1.0
    notes = {
        "The alignment is not normalised: it is scaled by its largest weight, "
        f"{largest:.3g}.": largest > 1.0,
        "Weights below 0 are drawn as 0.": np.any(weights < -_TOLERANCE),
        "Crosses: the weight is not a finite number.": np.isnan(weights).any(),
    }
    values = np.clip(weights / largest, 0.0, 1.0)
    return ScaledWeights(values, tuple(note for note, holds in notes.items() if holds))
