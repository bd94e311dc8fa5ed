"""The errors of the library: what is wrong, expected, received, remedy."""

import re
import reprlib


class _Short(reprlib.Repr):
    """Short texts of values: a few items, a few characters, and no addresses."""

    def repr_instance(self, x, level):
        try:
            text = re.sub(r" object at 0x[0-9a-f]+", "", repr(x))
        except Exception:  # the class is not ours, and its repr may fail
            text = f"<{type(x).__name__}>"
        half = (self.maxother - 3) // 2
        is_long = len(text) > self.maxother
        return f"{text[:half]}...{text[-half:]}" if is_long else text


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = 60  # characters
_SHORT.maxlist = _SHORT.maxtuple = 4
_SHORT.maxlevel = 3


def four_part_error(what, expected, received, remedy, kind=ValueError):
    """An exception whose message has four parts; the caller raises it.

    Args:
        what: the start of the message, which names who complains and about what:
            "BiEncoder got an unusable units".
        expected: what would have been right: "a positive integer".
        received: what was there instead: "units=0".
        remedy: what to do, one or more sentences: "Pass units=256, for example".
        kind: class of the exception.

    None of the parts ends with a period.

    Example:
        >>> said = four_part_error(
        ...     "BiEncoder got an unusable units",
        ...     "a positive integer",
        ...     "units=0",
        ...     "Pass units=256, for example",
        ... )
        >>> print(said)  # doctest: +NORMALIZE_WHITESPACE
        BiEncoder got an unusable units. Expected a positive integer,
        received units=0. Pass units=256, for example.
    """
    return kind(four_parts(what, expected, received, remedy))


def four_parts(what, expected, received, remedy):
    """The message of such an error, for example for a warning."""
    return f"{what}. Expected {expected}, received {received}. {remedy}."


def missing_package(
    owner, package, error, *, extra=None, requirement=None, otherwise=None
):
    """An ImportError for an optional package; the remedy installs it.

    Args:
        owner: who needs it.
        package: its name on the package index.
        error: the exception of the import.
        extra: the extra of this library that brings it.
        requirement: what pip installs if no extra brings it.
        otherwise: what to do without it; None: nothing helps.
    """
    remedy = f'Run pip install "{requirement or f"keras_seqattn[{extra}]"}"'
    if extra is not None:
        remedy += f', or in a checkout pip install -e ".[{extra}]"'
    return four_part_error(
        f"{owner} needs a package that is not installed",
        package,
        f'"{error}"',
        remedy if otherwise is None else f"{remedy}; {otherwise}",
        kind=ImportError,
    )


def abbreviated(value):
    """The `repr` of any value in one short line, for what an error received.

    Example:
        >>> abbreviated(list(range(1000)))
        '[0, 1, 2, 3, ...]'
    """
    return " ".join(_SHORT.repr(value).split())
