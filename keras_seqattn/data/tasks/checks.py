"""Checks of the tasks: options, numbers of pairs, ranges, packages."""

import importlib
import inspect

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import abbreviated, four_part_error, missing_package


def check_options(build, options):
    """Check that a function that makes a task has these options."""
    names = list(inspect.signature(build).parameters)
    for name in options:
        check_choice(build.__name__, "option", name, names)


def check_splits(owner, available, items, remedy, **counts):
    """Check that no split is empty, and that there are enough items for all splits.

    Args:
        owner: name of the task, for the error.
        available: number of different items.
        items: what the items are, for the error: "days", for example.
        remedy: last part of the error.
        **counts: number of items of each split.
    """
    for name, count in counts.items():
        check_count(owner, name, count, 1)
    if sum(counts.values()) > available:
        raise four_part_error(
            f"{owner} got more pairs than there are {items}",
            f"{' + '.join(counts)} <= {available}",
            " + ".join(map(str, counts.values())),
            remedy,
        )


def check_range(owner, name, pair, least, most):
    """Check that a range is a pair of integers in order."""
    integers = isinstance(pair, (list, tuple)) and [type(x) for x in pair] == [int, int]
    if not integers or not least <= pair[0] <= pair[1] <= most:
        raise four_part_error(
            f"{owner} got unusable {name}",
            f"two integers with {least} <= first <= last <= {most}",
            f"{name}={abbreviated(pair)}",
            "Check the order of the two; both are included",
        )


def package(owner, name):
    """Return an optional package, or raise an error that says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise missing_package(owner, name, error, extra="tasks") from error
