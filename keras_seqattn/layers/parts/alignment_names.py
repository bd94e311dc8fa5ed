"""The names of the alignments of a Transformer, and the choice of one of them."""

import re
from typing import NamedTuple

from keras import ops

from keras_seqattn.errors import four_part_error

SELF = "self/"  # before the names of the self-attention


def layer_names(count, prefix=""):
    """The names of an attention in all layers: "layer 1" is the first one."""
    return tuple(f"{prefix}layer {number}" for number in range(1, count + 1))


class AlignmentChoice(NamedTuple):
    """One alignment of a decoder."""

    layer: int  # from 0 on
    head: int | None  # from 0 on; None: the mean of all heads

    def of(self, alignments):
        """`[batch, time, source]` of alignments `[batch, time, (heads,) source]`.

        Args:
            alignments: one for each layer.
        """
        alignment = alignments[self.layer]
        if len(alignment.shape) == 3:  # no heads
            return alignment
        if self.head is None:
            return ops.mean(alignment, axis=-2)
        return alignment[..., self.head, :]


def choose_alignment(owner, alignment, layers, heads):
    """The `AlignmentChoice` of a number or a name; an error if there is none.

    Args:
        owner: name for messages.
        alignment: number of a layer, from 0 on or from the end; or "layer 2",
            "layer 2/head 1", both from 1 on.
        layers: number of layers.
        heads: number of heads of each layer.
    """
    if isinstance(alignment, int) and not isinstance(alignment, bool):
        if -layers <= alignment < layers:
            return AlignmentChoice(alignment % layers, None)
    elif isinstance(alignment, str):
        found = re.fullmatch(r"layer ([1-9]\d*)(?:/head ([1-9]\d*))?", alignment)
        layer, head = (int(n or 1) for n in found.groups()) if found else (0, 0)
        if found and layer <= layers and head <= heads:
            return AlignmentChoice(layer - 1, head - 1 if found[2] else None)
    raise four_part_error(
        f"{owner} got an unusable alignment",
        f"'layer 1' to 'layer {layers}', also with '/head 1' to '/head {heads}' behind "
        f"it; or the number of a layer, from {-layers} to {layers - 1}",
        f"alignment={alignment!r}",
        "Use -1 for the last layer",
    )


def with_heads(alignment):
    """`[batch, heads, time, source]` of `[batch, time, (heads,) source]`."""
    if len(alignment.shape) == 3:
        return alignment[:, None]
    return ops.swapaxes(alignment, 1, 2)
