"""Stores results in files, one for each benchmark."""

import datetime
import json
import pathlib
import subprocess

RESULTS = pathlib.Path(__file__).parent / "results"


def load(folder, benchmark):
    """Return the stored points of a benchmark, in its order."""
    path = pathlib.Path(folder, f"{benchmark.name}.json")
    rows = json.loads(path.read_text())["points"] if path.exists() else {}
    return {label: rows[label] for label in benchmark.points if label in rows}


def is_measured(rows, label, options):
    """Whether a point with the same options is stored."""
    row = rows.get(label)
    return (
        row is not None and row["options"] == plain(options) and not row["complaints"]
    )


def save(folder, benchmark, rows):
    """Write the file of a benchmark with all points."""
    path = pathlib.Path(folder, f"{benchmark.name}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = ("name", "what", "base", "kind", "steps", "axis")
    content = {field: getattr(benchmark, field) for field in fields}
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps({**content, "points": rows}, indent=2) + "\n")
    temporary.replace(path)


def write(name, content):
    """Write the results of a benchmark that is not in the catalogue."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(content, indent=2) + "\n"
    (RESULTS / f"{name}.json").write_text(text)


def stamp(options):
    """Return the origin of a row: options, day and commit."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"options": plain(options), "day": day, "commit": commit()}


def plain(options):
    """Return options as JSON has them."""
    named = {k: v._asdict() if hasattr(v, "_asdict") else v for k, v in options.items()}
    return json.loads(json.dumps(named))


def commit(folder=RESULTS.parent):
    """Return the commit of a checkout, with + for changed files; "" without git."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        found = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()
