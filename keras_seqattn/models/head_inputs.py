"""What a head reads: it declares the names, and the model passes the tensors."""

from keras import ops

from keras_seqattn.errors import abbreviated, four_part_error

READABLE = ("outputs", "inputs", "alignment", "source")


def names_read(head):
    """Return the names of what a head reads, in the order of its arguments.

    Args:
        head: a layer. Its `reads` is a tuple of these names. Without it, a head reads
            the outputs, and with `reads_inputs = True` the inputs after them.
    """
    default = ("outputs", "inputs")[: 1 + bool(getattr(head, "reads_inputs", False))]
    names = getattr(head, "reads", default)
    is_list = isinstance(names, (list, tuple)) and len(names) > 0
    if not is_list or any(name not in READABLE for name in names):
        raise four_part_error(
            "Seq2Seq got a head that reads something unknown",
            f"a tuple of some of {list(READABLE)} as its attribute `reads`",
            f"reads={abbreviated(names)} of {type(head).__name__}",
            "Name the arguments of its `call` in their order, e.g. "
            'reads = ("outputs", "alignment", "source")',
        )
    return tuple(names)


def check_source_ids(head, names, has_ids):
    """Check that the source consists of ids where a head reads them."""
    if "source" in names and not has_ids:
        raise four_part_error(
            "Seq2Seq got a head that reads the ids of a source without ids",
            "a source_embedding of ids",
            f"a source of numbers, and {type(head).__name__} with reads={names}",
            "Use a head that does not read the source, e.g. OutputHead(vocabulary)",
        )


def shapes_read(names, decoder, outputs, target, values):
    """Return the shapes of what a head reads.

    Args:
        names: of what it reads.
        decoder: the decoder; if it has no cell, its alignments have no heads.
        outputs: shape of its outputs.
        target: shape of the target embeddings.
        values: shape of the values of the encoder.
    """
    alignment = (*target[:2], values[1])
    if cell := getattr(decoder, "cell", None):
        alignment = cell.alignment_shape(target, values)
    if len(alignment) > 3:  # heads
        alignment = (alignment[0], alignment[-2], *alignment[1:-2], alignment[-1])
    source = (values[0], values[1])
    known = dict(zip(READABLE, (outputs, target, alignment, source), strict=True))
    return [known[name] for name in names]


def heads_after_target(alignment):
    """Return the alignments of a whole target in the order of those of steps.

    Args:
        alignment: `[batch, (heads,) target, source]`.

    Returns:
        `[batch, target, (heads,) source]`.
    """
    return ops.moveaxis(alignment, -2, 1) if len(alignment.shape) > 3 else alignment


def real_ids(source, mask, pad):
    """Return source ids as int32, with the id of the padding where nothing is real."""
    source = ops.cast(source, "int32")
    return source if mask is None else ops.where(mask, source, pad)
