"""Sources that have several targets, and their references."""

from keras_seqattn.data.pairs import Pairs


def by_source(pairs):
    """Return `{source: [targets]}`, both in the order of the pairs."""
    targets = {}
    for source, target in pairs:
        targets.setdefault(source, []).append(target)
    return targets


def pooled_references(sources, references):
    """Return, for each source, the references of all its occurrences.

    Args:
        sources: list of strings, e.g. words, with a line for each pronunciation.
        references: as many lists of strings.
    """
    pooled = {}
    for source, texts in zip(sources, references, strict=True):
        pooled.setdefault(source, {}).update(dict.fromkeys(texts))
    return [list(pooled[source]) for source in sources]


def held_out(targets):
    """Return pairs of each source with its first target, and all targets of each."""
    references = list(targets.values())
    return Pairs(targets, [first for first, *_ in references]), references
