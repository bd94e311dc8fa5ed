"""Checks of arguments that many folders need; what is wrong is a `four_part_error`."""

import difflib
import math

from keras_seqattn.errors import four_part_error


def check_count(owner, name, value, least=1):
    """A number of units, layers, steps, ... is an integer, and not too small."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise four_part_error(
            f"{owner} got an unusable {name}",
            "a positive integer" if least == 1 else f"an integer, {least} or more",
            f"{name}={value!r}",
            f"Pass a Python int, {least} or more",
        )


def check_number(owner, name, value):
    """A weight or a factor is a finite number."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        raise four_part_error(
            f"{owner} got an unusable {name}",
            "a finite number",
            f"{name}={value!r}",
            "Pass a Python float",
        )


def check_rate(owner, name, rate):
    """A dropout rate lies in [0, 1)."""
    if not 0 <= rate < 1:
        raise four_part_error(
            f"{owner} got an unusable {name}",
            "a rate in [0, 1)",
            f"{name}={rate!r}",
            "Use 0 to switch it off",
        )


def check_choice(owner, what, choice, choices):
    """A name is one of those that exist; if not, the error names the nearest one."""
    names = list(choices)
    if choice in names:  # a list: what was passed need not have a hash
        return
    known = ", ".join(sorted(map(str, names)))
    if len(names) > 64:  # a thousand locales help no reader
        known = f"{len(names)} names"
    near = difflib.get_close_matches(str(choice), map(str, names), n=1)
    raise four_part_error(
        f"{owner} got an unknown {what}",
        f"one of {known or 'none: there are none'}",
        repr(choice),
        f"Use {near[0]!r}, the nearest" if near else "Check the spelling",
    )
