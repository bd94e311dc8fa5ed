"""The contender of a checkout that its own benchmarks call ours, for its worker.

`benchmarks.against` puts this folder on the path of both workers, and they `build` from
here, so an older checkout does not need this file. It uses these parts of a checkout,
and later checkouts must keep them: the commands of `benchmarks.worker`, the catalogue's
`BENCHMARKS`, their `contenders`, `points` and `steps`, an entry's `make` and `options`,
and `benchmarks.registry.smoked`.
"""

import importlib.util
import pathlib
import types

from benchmarks.catalogue import BENCHMARKS
from benchmarks.registry import smoked

PACKAGES = ("benchmarks", "keras_seqattn", "zoo")


def description():
    """Return an object whose results are the places of packages and all points."""

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
    """Return our contender of a benchmark; its figures are its greatest memory."""
    benchmark = smoked(BENCHMARKS[name]) if smoke else BENCHMARKS[name]
    entry = next(iter(benchmark.contenders.values()))
    module, _, function = entry.make.partition(":")
    make = getattr(importlib.import_module(module), function)
    libraries = _resident("VmRSS")
    made = make(**{**entry.options, **benchmark.points[label]})
    return made._replace(figures=lambda: {"memory": _resident("VmHWM") - libraries})


def _sizes(options, steps):
    """Return the sizes of a point as strings, which need no classes of a checkout."""
    found = {"steps of a repetition": repr(steps)}
    for name, value in options.items():
        fields = value._asdict() if hasattr(value, "_asdict") else {"": value}
        found |= {f"{name} {field}".strip(): repr(x) for field, x in fields.items()}
    return found


def _resident(field):
    """Return the bytes of this process; NaN if /proc does not exist."""
    try:
        text = pathlib.Path("/proc/self/status").read_text()
    except OSError:
        return float("nan")
    return int(text.partition(f"{field}:")[2].split()[0]) * 1024
