"""Split a validation set off."""

import random

from keras_seqattn.errors import four_part_error

# The validation set is a tenth of the pairs, within these bounds, and half at most.
LEAST, MOST = 20, 1000


def split_validation(owner, pairs, size=None, remedy="pass validation=pairs"):
    """Return pairs for training and for validation, always the same ones.

    Args:
        owner: name of the caller, for errors.
        pairs: `Pairs`. The training pairs have no source of the validation pairs.
        size: number of validation pairs; None: a tenth, at least 20, at most 1000.
        remedy: what else helps if there are too few pairs; "Add pairs, or {remedy}".
    """
    size = _default_size(owner, len(pairs), remedy) if size is None else size
    if not 0 < size < len(pairs):
        raise four_part_error(
            f"{owner} cannot split off a validation set",
            f"a size from 1 to less than {len(pairs)}, the number of pairs",
            str(size),
            f"Add pairs, or {remedy}",
        )
    order = list(range(len(pairs)))
    # The seed is always 0, so that runs with other seeds can be compared.
    random.Random(0).shuffle(order)
    validation = pairs.select(sorted(order[:size]))
    known = set(validation.source)
    training = [i for i in sorted(order[size:]) if pairs.source[i] not in known]
    if not training:
        raise four_part_error(
            f"{owner} got too few different sources to split off a validation set",
            "pairs whose source is not in the validation set",
            f"{len(pairs)} pairs with {len(set(pairs.source))} different sources",
            f"Add pairs with other sources, or {remedy}",
        )
    return pairs.select(training), validation


def _default_size(owner, count, remedy):
    if count < 2 * LEAST:
        raise four_part_error(
            f"{owner} got too few pairs to split off a validation set",
            f"{2 * LEAST} pairs or more",
            f"{count} pair{'s' * (count != 1)}",
            f"Add pairs, or {remedy}",
        )
    return min(MOST, max(LEAST, count // 10))
