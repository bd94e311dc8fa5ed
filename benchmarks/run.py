"""`python -m benchmarks.run [name ...]`: gate, warm-up, interleaved repetitions, table.

Times move with the machine and with what else runs on it. So the contenders take turns,
each repetition in the other order, and a ratio is the median of the ratios within the
repetitions. Beside the time on the wall stands the processor time of this process,
which other programs disturb least. The GEMM peak of the same run says what the machine
can do, and what others did meanwhile whether to believe it: PyTorch's threads wait for
each other by spinning, so on a busy machine it suffers most, and we look too good;
OMP_WAIT_POLICY=passive in the environment helps it there.
"""

import argparse
import importlib
import json
import os
import pathlib
import statistics
import sys
import time

import keras
import numpy as np
import tensorflow as tf

from benchmarks.registry import BENCHMARKS, gate

MODULES = (
    "train_step",
    "decode",
    "multi30k",
    "attention_logging",
    "exported",
    "whole_sequence",
)
RESULTS = pathlib.Path(__file__).parent / "results"
WARM_UP = 3
M, K, N = 1024, 512, 1536  # all positions of the reference batch into three gates


def main(arguments=None):
    for module in MODULES:
        importlib.import_module(f"benchmarks.{module}")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help=f"default: {', '.join(BENCHMARKS)}")
    parser.add_argument("--repetitions", type=int, default=20)
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"got {unknown}, expected of {list(BENCHMARKS)}")
    RESULTS.mkdir(exist_ok=True)
    failed = False
    for name in options.names or BENCHMARKS:
        row = measure(name, options.repetitions)
        print(table(row), flush=True)
        (RESULTS / f"{name}.json").write_text(json.dumps(row, indent=2) + "\n")
        failed |= bool(row["complaints"])
    return int(failed)


def measure(name, repetitions):
    """What the gate complains of, or else the times of all contenders, in seconds."""
    contest = BENCHMARKS[name]()
    row = {
        "benchmark": name,
        "what": BENCHMARKS[name].__doc__,
        "versions": {"tensorflow": tf.__version__, "keras": keras.__version__},
        "ours": contest.ours.name,
        "steps": contest.steps,
        "notes": list(contest.notes),
        "complaints": gate(contest),
    }
    if row["complaints"]:
        return row
    contenders = [contest.ours, *contest.rivals]
    row["tokens"] = {contender.name: contender.tokens for contender in contenders}
    row["wall"] = {contender.name: [] for contender in contenders}
    row["processor"] = {contender.name: [] for contender in contenders}
    multiply, peak = _gemm(), 0.0
    since = time.perf_counter(), _spent_by_others()
    for repetition in range(WARM_UP + repetitions):
        for contender in contenders[:: 1 if repetition % 2 else -1]:
            wall, processor = _timed(contender.step)
            if repetition >= WARM_UP:
                row["wall"][contender.name].append(wall)
                row["processor"][contender.name].append(processor)
        peak = max(peak, 2 * M * K * N / _timed(multiply)[0])
    row["gemm_peak_gflops"] = peak / 1e9
    wall, others = time.perf_counter() - since[0], _spent_by_others() - since[1]
    row["others"] = others / wall  # processors that were not ours
    return row


def _timed(step):
    wall, processor = time.perf_counter(), time.process_time()
    step()
    return time.perf_counter() - wall, time.process_time() - processor


def _spent_by_others():
    """Processor time of all other programs since some moment; NaN if nobody tells."""
    try:
        fields = pathlib.Path("/proc/stat").read_text().split()[1:9]
    except OSError:
        return float("nan")
    user, nice, system, _, _, *interrupts = map(int, fields)
    busy = (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
    return busy - time.process_time()


def _gemm():
    rng = np.random.default_rng(0)
    a = tf.constant(rng.standard_normal((M, K)), tf.float32)
    b = tf.constant(rng.standard_normal((K, N)), tf.float32)
    sample = tf.function(lambda: tf.matmul(a, b)[0, 0])  # its value: surely finished
    return lambda: sample().numpy()


def table(row):
    """The row for people; a ratio below 1 says that ours takes less."""
    title = f"{row['benchmark']}: {row['what'].splitlines()[0]}"
    lines = [title, *(f"  {note}" for note in row["notes"])]
    if row["complaints"]:
        complaints = [f"  {complaint}" for complaint in row["complaints"]]
        return "\n".join([*lines, "  no times: the contenders disagree", *complaints])
    lines += _throughputs(row) if any(row["tokens"].values()) else _times(row)
    peak = f"{row['gemm_peak_gflops']:.0f} GFLOP/s"
    lines.append(f"  GEMM peak of this run, [{M},{K}]x[{K},{N}] float32: {peak}")
    busy = f"{row['others']:.2f} of {os.cpu_count()} processors"
    lines.append(f"  Other programs kept busy meanwhile: {busy}")
    return "\n".join(lines)


def _times(row):
    ratio, ms, per_step = "ours/it", "ms", row["steps"] > 1
    head = f"  {'':18} {'wall':>9} {ratio:>8} {'processor':>13} {ratio:>8}"
    lines = [head + f" {'wall per step':>15}" * per_step]
    for who in row["wall"]:
        cells = []
        for kind in ("wall", "processor"):
            ours, theirs = row[kind][row["ours"]], row[kind][who]
            ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
            cells += [statistics.median(theirs) * 1e3, statistics.median(ratios)]
        line = (
            f"  {who:18} {cells[0]:6.1f} {ms} {cells[1]:8.3f} "
            f"{cells[2]:10.1f} {ms} {cells[3]:8.3f}"
        )
        lines.append(line + f" {cells[0] / row['steps']:12.2f} {ms}" * per_step)
    return lines


def _throughputs(row):
    """Where contenders differ in their work, what counts is work by time."""
    lines = [f"  {'':18} {'tokens / s (wall)':>18} {'ours/it':>8} {'processor':>10}"]
    for who in row["wall"]:
        cells = []
        for kind in ("wall", "processor"):
            ours, theirs = (
                [row["tokens"][name] / seconds for seconds in row[kind][name]]
                for name in (row["ours"], who)
            )
            ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
            cells += [statistics.median(theirs), statistics.median(ratios)]
        lines.append(f"  {who:18} {cells[0]:18.0f} {cells[1]:8.2f} {cells[3]:10.2f}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
