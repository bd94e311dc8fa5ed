"""Sources with all their targets, where a source has several."""

from keras_seqattn.data.pairs import Pairs


def by_source(pairs):
    """`{source: [targets]}`, both in the order of the pairs."""
    targets = {}
    for source, target in pairs:
        targets.setdefault(source, []).append(target)
    return targets


def held_out(targets):
    """The pairs of each source with its first target, and all targets of each."""
    references = list(targets.values())
    return Pairs(targets, [first for first, *_ in references]), references
