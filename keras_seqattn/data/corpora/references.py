"""Sources with all their targets, where a source has several."""

from keras_seqattn.data.pairs import Pairs


def by_source(pairs):
    """`{source: [targets]}`, both in the order of the pairs."""
    targets = {}
    for source, target in pairs:
        targets.setdefault(source, []).append(target)
    return targets


def pooled_references(sources, references):
    """For each source the references of all the places where it stands.

    Args:
        sources: list of strings, e.g. words, with a line for each pronunciation.
        references: as many lists of strings.
    """
    found = {}
    for source, known in zip(sources, references, strict=True):
        found.setdefault(source, {}).update(dict.fromkeys(known))
    return [list(found[source]) for source in sources]


def held_out(targets):
    """The pairs of each source with its first target, and all targets of each."""
    references = list(targets.values())
    return Pairs(targets, [first for first, *_ in references]), references
