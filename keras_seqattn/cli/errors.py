"""Errors of the person at the terminal: four parts, no traceback."""


class RunFailed(Exception):
    """A run that ended without what it was for, through no fault of its options."""
