"""The names of all alignments of an encoder and a decoder."""

from keras import ops

from keras_seqattn.checks import check_choice


def names_of(part):
    """The names of a part with several alignments; () if it has one or none."""
    return tuple(getattr(part, "alignment_names", ()))


def alignment_names(encoder, decoder):
    """The names of all alignments of a model, the encoder's first."""
    in_decoder = [f"decoder/{name}" for name in names_of(decoder)] or ["decoder"]
    return (*(f"encoder/{name}" for name in names_of(encoder)), *in_decoder)


def chosen_names(owner, names, known):
    """The chosen names: one as a string, a list, or None for all known ones."""
    if names is None:
        return known
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        check_choice(owner, "name", name, known)
    return names


def named_alignments(of_encoder, of_decoder):
    """All alignments by the names of the model, float32, with heads.

    Args:
        of_encoder: dict from the names of the encoder to its alignments.
        of_decoder: the same of the decoder; or its only one, a tensor.
    """
    if isinstance(of_decoder, dict):
        found = {f"decoder/{name}": x for name, x in of_decoder.items()}
    else:
        has_heads = len(of_decoder.shape) == 4
        found = {"decoder": of_decoder if has_heads else of_decoder[:, None]}
    found = {**{f"encoder/{name}": x for name, x in of_encoder.items()}, **found}
    return {name: ops.cast(x, "float32") for name, x in found.items()}
