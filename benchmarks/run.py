"""`python -m benchmarks.run [name ...]`: gate, warm-up, interleaved repetitions, table.

Times move with the machine and with what else runs on it; repetitions are interleaved,
so that a ratio within one run does not. The GEMM peak measured in the same run says what
the machine could do at best.
"""

import argparse
import importlib
import json
import pathlib
import platform
import statistics
import sys
import time

import numpy as np
import tensorflow as tf

from benchmarks.registry import BENCHMARKS, gate

RESULTS = pathlib.Path(__file__).parent / "results"
MODULES = ("train_step",)
WARM_UP = 3


def main(arguments=None):
    for module in MODULES:
        importlib.import_module(f"benchmarks.{module}")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {sorted(BENCHMARKS)}; all")
    parser.add_argument("--repetitions", type=int, default=20)
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"unknown: {sorted(unknown)}; expected of {sorted(BENCHMARKS)}")
    print(f"{platform.processor() or platform.machine()}, TensorFlow {tf.__version__}")
    rows = [measure(name, options.repetitions) for name in options.names or BENCHMARKS]
    print(table(rows))
    RESULTS.mkdir(exist_ok=True)
    for row in rows:
        path = RESULTS / f"{row['benchmark']}.json"
        path.write_text(json.dumps(row, indent=2) + "\n")
    return any(row["complaints"] for row in rows)


def measure(name, repetitions):
    """One row: complaints of the gate, or times of every contender, in seconds."""
    contest = BENCHMARKS[name]()
    row = {"benchmark": name, "what": BENCHMARKS[name].__doc__, "times": {}}
    row["complaints"] = gate(contest)
    if row["complaints"]:
        return row
    steps = {c.name: c.step for c in (contest.ours, *contest.rivals)}
    steps["GEMM"] = _gemm()
    times = {who: [] for who in steps}
    for repetition in range(WARM_UP + repetitions):
        for who, step in steps.items():
            start = time.perf_counter()
            step()
            if repetition >= WARM_UP:
                times[who].append(time.perf_counter() - start)
    row["gemm_gflops"] = GEMM_FLOPS / min(times.pop("GEMM")) / 1e9
    row["times"], row["ours"] = times, contest.ours.name
    return row


M, K, N = 1024, 512, 1536  # all positions of the reference batch into three gates
GEMM_FLOPS = 2 * M * K * N


def _gemm():
    rng = np.random.default_rng(0)
    a = tf.constant(rng.standard_normal((M, K)), tf.float32)
    b = tf.constant(rng.standard_normal((K, N)), tf.float32)
    return lambda: tf.matmul(a, b).numpy()


def table(rows):
    lines = [
        f"{'benchmark':20} {'contender':20} {'median':>9} {'fastest':>9} {'ours/it':>8}"
    ]
    for row in rows:
        for complaint in row["complaints"]:
            lines.append(f"{row['benchmark']:20} no time: {complaint}")
        for who, times in row["times"].items():
            ratio = statistics.median(row["times"][row["ours"]]) / statistics.median(times)
            lines.append(
                f"{row['benchmark']:20} {who:20} {statistics.median(times) * 1e3:6.1f} ms "
                f"{min(times) * 1e3:6.1f} ms {ratio:8.3f}"
            )
        if row["times"]:
            peak = f"GEMM peak [{M},{K}]x[{K},{N}] {row['gemm_gflops']:.0f} GFLOP/s"
            lines.append(f"{row['benchmark']:20} {peak}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
