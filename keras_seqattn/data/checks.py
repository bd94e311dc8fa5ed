"""Errors in four parts, where the folder needs them more than once."""

from keras_seqattn.errors import four_part_error


def check_ratio(owner, ratio):
    """No side is shorter than itself."""
    number = isinstance(ratio, (int, float)) and not isinstance(ratio, bool)
    if not number or not ratio >= 1:
        raise four_part_error(
            f"{owner} got an unusable ratio",
            "a number, 1 or more",
            f"ratio={ratio!r}",
            "It is how many times longer than the other side a side may be, e.g. 3",
        )
