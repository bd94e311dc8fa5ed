"""`python -m benchmarks.docs`: tables and plots of docs/benchmarks.md from results.

Results in `benchmarks/results` of this checkout are copied to `docs/benchmarks`, which
is under version control. The text between the two marks of a benchmark is made from its
file there, so no figure is typed by hand.
"""

import argparse
import functools
import json
import pathlib
import re
import shutil
import sys

from benchmarks import exported_forms, phases, plots, shortlisted, store, table
from benchmarks.catalogue import BENCHMARKS
from keras_seqattn.errors import four_part_error

DOCS = pathlib.Path(__file__).parents[1] / "docs"
KEPT = "benchmarks"  # in the folder of the page
OPERATIONS, FORMS = "operations", "exported_forms"
PHASES, SHORTLISTS = "phases", "shortlisted"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--results", default=store.RESULTS, metavar="FOLDER")
    parser.add_argument("--docs", default=DOCS, type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args(arguments)
    options.results = keep(options.results, options.docs / KEPT)
    page = options.docs / "benchmarks.md"
    page.write_text(written(page.read_text("utf-8"), options), "utf-8")
    return 0


def keep(results, folder):
    """Update the folder of all results with those of this checkout; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names():
        if (path := pathlib.Path(results, f"{name}.json")).exists():
            shutil.copyfile(path, folder / path.name)
    return folder


def names():
    """Return the names of everything that has a place on the page."""
    return [*BENCHMARKS, OPERATIONS, FORMS, PHASES, SHORTLISTS]


def written(text, options):
    """Return the page with new text between all marks."""
    for name in names():
        begin, end = f"<!-- measured: {name} -->", f"<!-- end: {name} -->"
        if begin not in text or end not in text:
            raise four_part_error(
                f"docs/benchmarks.md has no place for {name}",
                f"the lines {begin} and {end}",
                "a page without them",
                "Add them",
            )
        lines = "\n".join([begin, *_lines(name, options), end])
        pattern = f"{re.escape(begin)}.*{re.escape(end)}"
        text = re.sub(pattern, lambda _, new=lines: new, text, flags=re.DOTALL)
    return text


def _lines(name, options):
    if name in _APART:
        return _APART[name](pathlib.Path(options.results, f"{name}.json"))
    benchmark = BENCHMARKS[name]
    command = f"`python -m benchmarks.run {name}`"
    found = store.load(options.results, benchmark)
    rows = {label: row for label, row in found.items() if not row["complaints"]}
    if not rows:
        return [f"Not measured yet: {command}."]
    if benchmark.axis:
        picture = pathlib.Path("images", "benchmarks", f"{name}.png")
        plots.draw(benchmark, rows, options.docs / picture)
        lines = [f"![{benchmark.what} {benchmark.axis}]({picture})", ""]
        lines += _markdown(_points(benchmark, rows))
    else:
        [row] = rows.values()
        lines = [*_markdown(table.table(benchmark, row)), ""]
        lines += [f"- {line}" for line in [*table.figures(row), *row["notes"]]]
        if "wall" in row:
            lines.append(f"- Repetitions: {len(row['wall'][row['ours']])}")
        lines += [f"- {line}" for line in table.machine(row)]
    return [*lines, "", _origin(command, rows)]


def _points(benchmark, rows):
    """Return a line for each point, with a column for each contender."""
    names = list(benchmark.contenders)
    head = [benchmark.axis, *(f"{name}, {plots.unit(benchmark)}" for name in names)]
    lines = [head]
    for label, row in rows.items():
        values = (plots.value(benchmark, row, name) for name in names)
        lines.append([label, *("" if x is None else f"{x:,.0f}" for x in values)])
    return lines


def _operations(path):
    command = "`python -m benchmarks.operations`"
    if not path.exists():
        return [f"Not counted yet: {command}."]
    content = json.loads(path.read_text())
    head = ["", "kernels forward", "backward", "all operations forward", "backward"]
    rows = [head]
    for name, counts in content["counts"].items():
        rows.append(
            [name, *(f"{x:.1f}" for kind in zip(*counts, strict=True) for x in kind)]
        )
    head = ["compiled by XLA", "kernels forward", "of these writing a result"]
    compiled = [[*head, "kernels backward", "of these writing a result"]]
    for name, turns in content.get("compiled", {}).items():
        compiled.append([name, *(str(number) for turn in turns for number in turn)])
    tables = [*_markdown(rows), "", *_markdown(compiled)]
    return [*tables, "", f"Counted at {content['commit']}: {command}."]


def _phases(path):
    command = "`python -m benchmarks.phases`"
    if not path.exists():
        return [f"Not measured yet: {command}."]
    content = json.loads(path.read_text())
    peak = f"GEMM peak of this run: {content['gemm_peak_gflops']:.0f} GFLOP/s"
    rows = phases.table(content["rows"])
    return [*_markdown(rows), "", f"- {peak}", "", _when(content, command)]


def _rows(module, path):
    """Return the table of a module, as the module prints it."""
    command = f"`python -m {module.__name__}`"
    if not path.exists():
        return [f"Not measured yet: {command}."]
    content = json.loads(path.read_text())
    return [*_markdown(module.table(content["rows"])), "", _when(content, command)]


_APART = {
    OPERATIONS: _operations,
    FORMS: functools.partial(_rows, exported_forms),
    PHASES: _phases,
    SHORTLISTS: functools.partial(_rows, shortlisted),
}


def _when(content, command):
    return f"Measured on {content['day']} at {content['commit']}: {command}."


def _markdown(rows):
    rows = [rows[0], ["---", *["---:"] * (len(rows[0]) - 1)], *rows[1:]]
    return [f"| {' | '.join(cells)} |" for cells in rows]


def _origin(command, rows):
    """Return the day, the commit and the versions of a measurement."""
    days = sorted({row["day"] for row in rows.values()})
    commits = sorted({row["commit"] for row in rows.values()})
    versions = {n: v for row in rows.values() for n, v in row["versions"].items()}
    used = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    when = f"{' and '.join(days)} at {', '.join(commits)}"
    return f"Measured on {when} with {used}: {command}."


if __name__ == "__main__":
    sys.exit(main())
