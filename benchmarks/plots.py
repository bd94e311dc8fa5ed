"""Plots a benchmark of several points, with a line for each contender."""

import statistics

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from benchmarks import table

COLORS = ("#0b6e4f", "#c8553d", "#5c6bc0", "#8d6e63")  # ours first
UNITS = {
    "throughput": "target tokens / s",
    "memory": "MB",
    "time": "ms",
}


def kind(benchmark):
    """Return what the plot shows: memory, throughput or time."""
    if benchmark.kind == "memory":
        return "memory"
    return "throughput" if benchmark.base else "time"


def unit(benchmark):
    return UNITS[kind(benchmark)]


def value(benchmark, row, name):
    """Return the value of a contender at a point, or None if it was left out."""
    if kind(benchmark) == "memory":
        found = row["memory"].get(name)
        return found and found / 1e6
    if name not in row["wall"]:
        return None
    if kind(benchmark) == "throughput":
        return table.throughput(row, name)
    return statistics.median(row["wall"][name]) / benchmark.steps * 1e3


def draw(benchmark, rows, path):
    """Write the plot."""
    figure = Figure(figsize=(6.4, 4.0), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    ticks, ends = [float(label) for label in rows], []
    for name, color in zip(benchmark.contenders, COLORS, strict=False):
        values = [value(benchmark, row, name) for row in rows.values()]
        points = [(x, y) for x, y in zip(ticks, values, strict=True) if y is not None]
        if points:
            axes.plot(*zip(*points, strict=True), "o-", color=color, label=name)
            ends.append(points[-1])
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, list(rows))
    axes.xaxis.set_minor_formatter(NullFormatter())
    if kind(benchmark) == "throughput":
        axes.set_ylim(bottom=0)
    else:  # the slope is the power with which it grows
        _guide(axes, min(ends, key=lambda end: end[1]), ticks[0], 1, "linear")
        _guide(axes, max(ends, key=lambda end: end[1]), ticks[0], 2, "quadratic")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.set_xlabel(benchmark.axis)
    axes.set_ylabel(unit(benchmark))
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})


def _guide(axes, end, start, power, label):
    """Draw a line that grows with a power and ends at a point."""
    x, y = end
    line = {"color": "0.6", "linewidth": 1, "zorder": 0, "label": label}
    axes.plot(
        [start, x], [y * (start / x) ** power, y], "--" if power == 1 else ":", **line
    )
