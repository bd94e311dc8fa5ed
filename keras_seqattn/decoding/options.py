"""Errors of the options of searches."""

import math


def check_count(owner, name, value, least):
    """An option that counts something is an integer, and not too small."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(
            f"{owner} got an unusable {name}. Expected an integer, {least} or more, "
            f"received {value!r}. Pass a Python int."
        )


def check_number(owner, name, value):
    """An option that weighs something is a finite number."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        raise ValueError(
            f"{owner} got an unusable {name}. Expected a finite number, received "
            f"{value!r}. Pass a Python float."
        )
