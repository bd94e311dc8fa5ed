"""The speed of the machine, and its load during a benchmark."""

import os
import pathlib
import time

import numpy as np

M, K, N = 1024, 512, 1536  # all positions of the reference batch into three gates
PRODUCTS = 10  # of which the fastest counts


def busy():
    """Return the processor seconds of all programs so far; NaN if unknown."""
    try:
        fields = pathlib.Path("/proc/stat").read_text().split()[1:9]
    except OSError:
        return float("nan")
    user, nice, system, _, _, *interrupts = map(int, fields)
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def resident(field):
    """Return the memory of this process in bytes, on Linux.

    "VmRSS" is the current memory, "VmHWM" the greatest so far.
    """
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise ValueError(
        "/proc/self/status lacks a field. Expected VmRSS or VmHWM, received "
        f"{field!r}. Check the name."
    )


def gemm_peak():
    """Return the best floating-point operations per second of a float32 product."""
    multiply = _multiply()
    multiply()
    times = []
    for _ in range(PRODUCTS):
        start = time.perf_counter()
        multiply()
        times.append(time.perf_counter() - start)
    return 2 * M * K * N / min(times)


def _multiply():
    import tensorflow as tf  # other libraries run in processes without it

    rng = np.random.default_rng(0)
    a = tf.constant(rng.standard_normal((M, K)), tf.float32)
    b = tf.constant(rng.standard_normal((K, N)), tf.float32)
    sample = tf.function(lambda: tf.matmul(a, b)[0, 0])  # its value: surely finished
    return lambda: sample().numpy()
