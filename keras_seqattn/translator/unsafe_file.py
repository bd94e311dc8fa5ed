"""The exception for files that a translator does not load."""


class UnsafeFile(ValueError):
    """A file is damaged, or what it contains may do harm.

    Callers catch it and make a four-part error of its reason.

    Args:
        reason: a clause in one line, such as "config.json is missing".
    """
