"""Errors of the person at the terminal: four parts, no traceback."""

import difflib


class RunFailed(Exception):
    """A run that ended without what it was for, through no fault of its options."""


def user_error(what, expected, received, remedy):
    """A `ValueError` in four parts."""
    return ValueError(f"{what}. Expected {expected}, received {received}. {remedy}.")


def check_name(owner, what, name, names):
    """A name is one of those that exist; if not, the nearest one is said."""
    names = list(names)
    if name in names:
        return
    near = difflib.get_close_matches(str(name), names, n=1)
    raise user_error(
        f"{owner} got an unknown {what}",
        f"one of {', '.join(map(str, sorted(names))) or 'none: there are none'}",
        repr(name),
        f"Use {near[0]!r}, the nearest" if near else "Check the spelling",
    )
