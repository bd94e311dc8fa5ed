"""Errors of the tasks: names, numbers of pairs, ranges, packages."""

import importlib
import inspect

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import four_part_error


def check_options(build, options):
    """Options are those of the function that makes the task."""
    names = list(inspect.signature(build).parameters)
    for name in options:
        check_choice(build.__name__, "option", name, names)


def check_splits(owner, available, items, remedy, **counts):
    """No split is empty, and there are enough different items for all of them."""
    for name, count in counts.items():
        check_count(owner, name, count, 1)
    if sum(counts.values()) > available:
        raise ValueError(
            f"{owner} got more pairs than there are {items}. Expected "
            f"{' + '.join(counts)} <= {available}, received "
            f"{' + '.join(map(str, counts.values()))}. {remedy}"
        )


def check_range(owner, name, pair, least, most):
    """Two integers, both included, the first not above the second."""
    integers = isinstance(pair, (list, tuple)) and [type(x) for x in pair] == [int, int]
    if not integers or not least <= pair[0] <= pair[1] <= most:
        raise four_part_error(
            f"{owner} got unusable {name}",
            f"two integers with {least} <= first <= last <= {most}",
            f"{name}={pair!r}",
            "Both are included: check their order",
        )


def package(owner, name):
    """An optional package, or how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise four_part_error(
            f"{owner} lacks a package",
            f"{name} to be installed",
            error,
            'Call `pip install "keras_seqattn[tasks]"`',
            kind=ImportError,
        ) from error
