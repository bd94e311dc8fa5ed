"""One point of a benchmark: build, gate, warm-up, interleaved repetitions.

Times depend on the machine and on other programs. So the contenders take turns, and
every repetition changes their order. A ratio is the median of the ratios within the
repetitions. The elapsed time stands beside the processor time of the contender's
process, which other programs disturb least. The GEMM peak of the same minutes shows
what the machine can do. The load of other programs shows whether the figures can be
trusted: PyTorch's threads spin while they wait for each other, so PyTorch loses most on
a busy machine, and this library looks too good. OMP_WAIT_POLICY=passive in the
environment helps PyTorch there.
"""

import contextlib
import os
import time

from benchmarks import gate
from benchmarks.processes import Process, Refused

WARM_UP = 2
FEWEST = 3  # repetitions, however long they take


def measure(benchmark, options):
    """Return a row: the complaints of the gate, or the figures of all contenders."""
    row = {"ours": next(iter(benchmark.contenders)), "notes": [], "versions": {}}
    row |= {"tokens": {}, "complaints": []}
    if benchmark.kind == "memory":
        # The measured step changes the weights, so the gate gets new processes.
        with contextlib.ExitStack() as stack:
            processes = _built(benchmark, options, row, stack)
            row["memory"] = _asked("memory", processes, row)
    with contextlib.ExitStack() as stack:
        processes = _built(benchmark, options, row, stack)
        _gate(benchmark, processes, row)
        if not row["complaints"] and benchmark.kind == "time":
            _time(benchmark, processes, row)
    row["notes"] = list(dict.fromkeys(row["notes"]))
    return row


def _built(benchmark, options, row, stack):
    """Start the available contenders; add a note about the others."""
    processes = []
    for name, entry in benchmark.contenders.items():
        if entry.python is not None and not os.path.exists(entry.python):
            _without(name, f"make bench-{name.lower()} gives it an environment", row)
            continue
        process = stack.enter_context(contextlib.closing(Process(name, entry.python)))
        try:
            built = process.ask("build", entry.make, {**entry.options, **options})
        except Refused as refused:
            _without(name, refused, row)
            continue
        row["tokens"][name] = built["tokens"]
        row["versions"] |= built["versions"]
        row["notes"] += [f"{name}: {note}" for note in built["notes"]]
        processes.append(process)
    return processes


def _without(name, refused, row):
    if name == row["ours"]:
        raise RuntimeError(
            f"{name} cannot be measured. Expected a contender, received: {refused}. "
            "Repair it: all rivals are compared with it."
        ) from None
    row["notes"].append(f"{name} is left out: {refused}")


def _gate(benchmark, processes, row):
    if len(processes) == 1:
        return
    found = _asked("results", processes, row)
    expected = found.pop(row["ours"])
    for name, results in found.items():
        entry = benchmark.contenders[name]
        tolerances = benchmark.tolerances
        if entry.tolerances is not None:
            tolerances = entry.tolerances
        if entry.compared:
            row["complaints"] += gate.complaints(name, expected, results, tolerances)


def _asked(command, processes, row):
    """Return answers by name; a contender that refuses is left out from now on."""
    answers = {}
    for process in list(processes):
        try:
            answers[process.name] = process.ask(command)
        except Refused as refused:
            _without(process.name, refused, row)
            processes.remove(process)
    return answers


def _time(benchmark, processes, row):
    wall = row["wall"] = {process.name: [] for process in processes}
    processor = row["processor"] = {process.name: [] for process in processes}
    peak, others, measured = 0.0, 0.0, 0.0
    start = time.monotonic()
    for repetition in range(WARM_UP + benchmark.repetitions):
        late = time.monotonic() - start > benchmark.seconds
        if late and repetition >= WARM_UP + FEWEST:
            break
        for process in processes[:: 1 if repetition % 2 else -1]:
            seconds, own, foreign = process.ask("repeat")
            if repetition >= WARM_UP:
                wall[process.name].append(seconds)
                processor[process.name].append(own)
                others, measured = others + foreign, measured + seconds
        peak = max(peak, processes[0].ask("peak"))
    row["gemm_peak_gflops"], row["processors"] = peak / 1e9, os.cpu_count()
    row["others"] = others / measured  # processors that were not the contender's
    row["flops"] = {}
    if benchmark.counts_flops:
        row["flops"] = {process.name: process.ask("flops") for process in processes}
    row["figures"] = {process.name: process.ask("figures") for process in processes}
