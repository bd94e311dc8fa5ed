"""Contenders that need nothing, for tests of what measures them."""

import functools
import os
import time

import numpy as np

from benchmarks import machine
from benchmarks.contender import Contender, Unavailable


def without_peak():
    """Measuring the GEMM peak would import TensorFlow in this process."""
    machine.gemm_peak = lambda: 5e11


def sleeper(seconds=0.001, answer=1.0, tokens=0):
    without_peak()
    results = functools.partial(dict, answer=np.array([answer, 2.0]))
    more = {"tokens": tokens, "flops": lambda: 10, "notes": ("slept",)}
    more["figures"] = lambda: {"a figure": 0.25}
    return Contender(lambda: time.sleep(seconds), results, **more)


def hungry(megabytes, learns=0.0):
    without_peak()
    answer = np.array(1.0)

    def step():
        answer[...] += learns
        return np.ones(megabytes * 10**6, "uint8")

    return Contender(step, lambda: {"answer": answer}, notes=("ate",))


def missing(**options):
    raise Unavailable("no such library: pip install it")


def wrong():
    return Contender(lambda: 1 / 0, lambda: {})


def dying():
    os.write(2, b"last words\n")
    os._exit(3)
