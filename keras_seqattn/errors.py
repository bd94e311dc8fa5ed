"""The errors of the library: what is wrong, expected, received, remedy."""


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
