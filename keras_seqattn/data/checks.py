"""Errors in four parts, where the folder needs them more than once."""


def check_choice(owner, name, choice, choices):
    """A name is one of those that exist."""
    if choice not in choices:
        raise ValueError(
            f"{owner} got an unknown {name}. Expected one of {sorted(choices)}, "
            f"received {name}={choice!r}. Check the spelling."
        )


def check_count(owner, name, value, least):
    """An integer, and not too small."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(
            f"{owner} got an unusable {name}. Expected an integer, {least} or more, "
            f"received {name}={value!r}. Pass a Python int."
        )


def check_ratio(owner, ratio):
    """No side is shorter than itself."""
    number = isinstance(ratio, (int, float)) and not isinstance(ratio, bool)
    if not number or not ratio >= 1:
        raise ValueError(
            f"{owner} got an unusable ratio. Expected a number, 1 or more, received "
            f"ratio={ratio!r}. It is how many times longer than the other side a side "
            "may be, e.g. 3."
        )
