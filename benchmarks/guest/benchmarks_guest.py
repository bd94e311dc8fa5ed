"""In a worker of any checkout: the contender that the checkout itself calls ours.

`benchmarks.against` puts this folder on the path of both workers and has them `build`
from here, so that an older checkout needs to know nothing of it. What it needs of a
checkout, and every later one should keep: the commands of `benchmarks.worker`, the
catalogue's `BENCHMARKS`, their `contenders`, `points` and `steps`, an entry's `make`
and `options`, and `benchmarks.registry.smoked`.
"""

import importlib.util
import pathlib
import types

from benchmarks.catalogue import BENCHMARKS
from benchmarks.registry import smoked

PACKAGES = ("benchmarks", "keras_seqattn", "zoo")


def description():
    """To be asked for its results: where packages come from, and what is measured."""

    def results():
        specs = {name: importlib.util.find_spec(name) for name in PACKAGES}
        files = {name: spec and spec.origin for name, spec in specs.items()}
        work = {
            f"{name} {label}": _sizes(options, benchmark.steps)
            for name, benchmark in BENCHMARKS.items()
            for label, options in benchmark.points.items()
        }
        return {"files": files, "work": work}

    return types.SimpleNamespace(tokens=0, notes=(), results=results)


def contender(name, label, smoke):
    """Ours of a benchmark; its figures are the memory that its process took at most."""
    benchmark = smoked(BENCHMARKS[name]) if smoke else BENCHMARKS[name]
    entry = next(iter(benchmark.contenders.values()))
    module, _, function = entry.make.partition(":")
    make = getattr(importlib.import_module(module), function)
    libraries = _resident("VmRSS")
    made = make(**{**entry.options, **benchmark.points[label]})
    return made._replace(figures=lambda: {"memory": _resident("VmHWM") - libraries})


def _sizes(options, steps):
    """Of a point, in words: they need no class that only one of the checkouts has."""
    found = {"steps of a repetition": repr(steps)}
    for name, value in options.items():
        fields = value._asdict() if hasattr(value, "_asdict") else {"": value}
        found |= {f"{name} {field}".strip(): repr(x) for field, x in fields.items()}
    return found


def _resident(field):
    """Bytes of this process; NaN where /proc does not tell."""
    try:
        text = pathlib.Path("/proc/self/status").read_text()
    except OSError:
        return float("nan")
    return int(text.partition(f"{field}:")[2].split()[0]) * 1024
