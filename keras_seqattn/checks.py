"""Checks of arguments that many folders need; what is wrong is a `four_part_error`."""

import difflib
import math
import numbers

from keras_seqattn.errors import abbreviated, four_part_error


def check_count(owner, name, value, least=1):
    """A number of units, layers, steps, ... is an integer, and not too small."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise four_part_error(
            f"{owner} got an unusable {name}",
            "a positive integer" if least == 1 else f"an integer, {least} or more",
            f"{name}={abbreviated(value)}",
            f"Pass a Python int, {least} or more",
        )


def check_number(owner, name, value):
    """A weight or a factor is a finite number."""
    if not _is_number(value) or not math.isfinite(value):
        raise four_part_error(
            f"{owner} got an unusable {name}",
            "a finite number",
            f"{name}={abbreviated(value)}",
            "Pass a Python float",
        )


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_rate(owner, name, rate):
    """A dropout rate lies in [0, 1)."""
    if not _is_number(rate) or not 0 <= rate < 1:
        raise four_part_error(
            f"{owner} got an unusable {name}",
            "a rate in [0, 1)",
            f"{name}={abbreviated(rate)}",
            "Use 0 to switch it off",
        )


def check_choice(owner, what, choice, choices):
    """A name is one of those that exist; if not, the error names the nearest one."""
    names = list(choices)
    if choice in names:  # a list: what was passed need not have a hash
        return
    listed = sorted(map(str, names))
    known = ", ".join(listed)
    if len(names) > 64:  # a thousand locales help no reader
        known = f"{len(names)} names"
    near, remedy = nearest(choice, names), "Check the spelling"
    if near:
        remedy = f"Use {near!r}, the nearest"
    elif 0 < len(names) <= 3:
        remedy = f"Use {' or '.join(map(repr, listed))}"
    raise four_part_error(
        f"{owner} got an unknown {what}",
        f"one of {known or 'none: there are none'}",
        abbreviated(choice),
        remedy,
    )


def nearest(name, names):
    """The one of `names` that `name` is probably meant to be, or None.

    Capitals do not matter. Where nothing is spelt alike, a name that contains the other
    one is near, from three letters on, and so is a name with these initials: "lr" is
    near "learning_rate".
    """
    written, known = str(name).casefold(), {str(x).casefold(): str(x) for x in names}
    close = difflib.get_close_matches(written, known, n=1)
    close = close or [each for each in known if _contains(each, written)]
    close = close or [each for each in known if _initials(each) == written]
    return known[close[0]] if close else None


def _initials(name):
    return "".join(word[:1] for word in name.split("_"))


def _contains(one, other):
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= 3 and shorter in longer
