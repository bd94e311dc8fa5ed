"""What logits carry beside their numbers, as Keras's tensors carry their masks.

A loss that takes the `Readout` never touches the logits, and what nobody touches is not
in the graph that runs. Layers that make other logits of them lose it: nobody is misled.
"""


def carry_readout(logits, readout):
    """Attaches what the logits are made of; None: that is not known."""
    logits._readout = readout
    return logits


def readout_of(logits):
    """The `Readout`, or None."""
    return getattr(logits, "_readout", None)


def carry_judged(logits, labels, judged):
    """Attaches what a loss found out, for the metrics."""
    logits._judged = (labels, judged)


def judged_of(logits, labels):
    """What is known about these very labels: `Judged`, or None."""
    known, judged = getattr(logits, "_judged", (None, None))
    return judged if known is labels else None
