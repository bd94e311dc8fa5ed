"""Errors of the tasks: names, numbers of pairs, ranges, packages."""

import difflib
import importlib
import inspect

from keras_seqattn.data.checks import check_count


def check_name(owner, what, name, names):
    """A name is one of those that exist; if not, the nearest one is said."""
    if name in list(names):  # a list need not hash what was passed
        return
    near = difflib.get_close_matches(str(name), names, n=1)
    remedy = f"Use {near[0]!r}, the nearest." if near else "Check the spelling."
    known = f"one of {sorted(names)}"
    if len(names) > 64:  # nobody reads a thousand locales
        known = f"one of {len(names)} names"
    raise ValueError(
        f"{owner} got an unknown {what}. Expected {known}, received {name!r}. {remedy}"
    )


def check_options(build, options):
    """Options are those of the function that makes the task."""
    names = list(inspect.signature(build).parameters)
    for name in options:
        check_name(build.__name__, "option", name, names)


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
        raise ValueError(
            f"{owner} got unusable {name}. Expected two integers with {least} <= first "
            f"<= last <= {most}, received {name}={pair!r}. Both are included: check "
            "their order."
        )


def package(owner, name):
    """An optional package, or how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"{owner} lacks a package. Expected {name} to be installed, received: "
            f'{error}. Call `pip install "keras_seqattn[tasks]"`.'
        ) from error
