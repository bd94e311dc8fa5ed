"""Tables of results. Figures are medians; ratios are medians of ratios."""

import statistics

from benchmarks.machine import K, M, N

RATIOS = ("ours / it, wall", "ours / it, processor")
MORE = ("ours / it, tokens / s", "ours / it, tokens / processor s")


def text(benchmark, label, row):
    """Return the lines of one point."""
    lines = [title(benchmark, label), *(f"  {note}" for note in row["notes"])]
    if row["complaints"]:
        complaints = [f"  {complaint}" for complaint in row["complaints"]]
        return "\n".join([*lines, "  no figures: they disagree", *complaints])
    lines += aligned(table(benchmark, row))
    return "\n".join(lines + [f"  {line}" for line in figures(row) + machine(row)])


def title(benchmark, label):
    """Return the first line of a point."""
    found = f"{benchmark.name}: {benchmark.what}"
    return f"{found} {benchmark.axis} {label}." if benchmark.axis else found


def table(benchmark, row):
    """Return rows of strings; the first is the head."""
    if benchmark.kind == "memory":
        cells = ((name, f"{x / 1e6:.0f}") for name, x in row["memory"].items())
        return [["", "MB above those after build"], *map(list, cells)]
    if len({tokens for tokens in row["tokens"].values() if tokens}) > 1:
        return _throughputs(row)
    return _times(benchmark, row)


def figures(row):
    """Return lines with the figures that contenders measure themselves."""
    found = {name: of or {} for name, of in row.get("figures", {}).items()}
    return [
        f"{name}: {what} {x:.2g}" for name in found for what, x in found[name].items()
    ]


def machine(row):
    """Return lines about the speed and the load of the machine."""
    if "gemm_peak_gflops" not in row:
        return []
    peak = f"{row['gemm_peak_gflops']:.0f} GFLOP/s"
    busy = f"{row['others']:.2f} of {row['processors']} processors"
    return [
        f"GEMM peak of this run, [{M},{K}]x[{K},{N}] float32: {peak}",
        f"Load of other programs during this run: {busy}",
    ]


def _times(benchmark, row):
    steps, ours, base = benchmark.steps, row["ours"], benchmark.base
    base = base if base in row["wall"] else None
    unit = "per step" if steps > 1 else "time"
    head = ["", f"wall {unit}", f"processor {unit}", *RATIOS]
    head += [f"it / {base}"] if base else []
    flops = {name: count for name, count in row["flops"].items() if count}
    head += ["share of GEMM peak"] if flops else []
    rows = [head]
    for name in row["wall"]:
        cells = [name]
        for kind in ("wall", "processor"):
            cells.append(f"{statistics.median(row[kind][name]) / steps * 1e3:.2f} ms")
        cells += [f"{ratio(row, k, ours, name):.3f}" for k in ("wall", "processor")]
        cells += [f"{ratio(row, 'wall', name, base):.3f}"] if base else []
        if flops:
            cells.append(f"{share(row, name, steps):.0%}" if name in flops else "")
        rows.append(cells)
    return rows


def _throughputs(row):
    """Return rows of throughput, for contenders with different amounts of work."""
    rows = [["", "tokens / s", *MORE]]
    for name in row["wall"]:
        more = row["tokens"][row["ours"]] / row["tokens"][name]
        ratios = [
            more / ratio(row, k, row["ours"], name) for k in ("wall", "processor")
        ]
        cells = [f"{x:.2f}" for x in ratios]
        rows.append([name, f"{throughput(row, name):.0f}", *cells])
    return rows


def ratio(row, kind, one, other):
    """Return the median ratio of two contenders."""
    pairs = zip(row[kind][one], row[kind][other], strict=True)
    return statistics.median(a / b for a, b in pairs)


def throughput(row, name):
    """Return tokens per second, without padding."""
    return row["tokens"][name] / statistics.median(row["wall"][name])


def share(row, name, steps):
    """Return the share of the GEMM peak that a step's matrix products reach."""
    done = row["flops"][name] * steps / statistics.median(row["wall"][name])
    return done / 1e9 / row["gemm_peak_gflops"]


def aligned(rows):
    """Return the lines of a table of strings."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [f"{c:>{w}}" for c, w in zip(others, widths[1:], strict=True)]
        yield "  ".join([f"  {first:<{widths[0]}}", *cells])
