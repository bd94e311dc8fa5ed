"""Every public oracle computes in float64, whatever the caller's arrays hold."""

import functools

import numpy as np


def to_float64(argument):
    """Arrays (in lists and tuples too) to float64; masks, integers, callables stay."""
    if isinstance(argument, (list, tuple)):
        entries = [to_float64(entry) for entry in argument]
        return entries if isinstance(argument, list) else tuple(entries)
    if not hasattr(argument, "__array__"):
        return argument
    array = np.asarray(argument)
    return array if array.dtype.kind in "biu" else array.astype("float64")


def float64(function):
    @functools.wraps(function)
    def oracle(*args, **kwargs):
        args = [to_float64(argument) for argument in args]
        kwargs = {name: to_float64(argument) for name, argument in kwargs.items()}
        return function(*args, **kwargs)

    return oracle
