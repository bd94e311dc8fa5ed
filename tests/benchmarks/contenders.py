"""Contenders that need nothing, for tests of what measures them."""

import os
import time

import numpy as np

from benchmarks.contender import Contender, Unavailable


def sleeper(seconds=0.001, answer=1.0, tokens=0):
    def results():
        return {"answer": np.array([answer, 2.0])}

    return Contender(
        lambda: time.sleep(seconds),
        results,
        tokens=tokens,
        flops=lambda: 10,
        figures=lambda: {"a figure": 0.25},
        notes=("slept",),
    )


def hungry(megabytes, learns=0.0):
    """A step takes so much memory, and changes the answer."""
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
