"""Results in files, one for each benchmark; what is there is not measured again."""

import datetime
import json
import pathlib
import subprocess

RESULTS = pathlib.Path(__file__).parent / "results"


def load(folder, benchmark):
    """What the file has of the benchmark, its points in their order."""
    path = pathlib.Path(folder, f"{benchmark.name}.json")
    rows = json.loads(path.read_text())["points"] if path.exists() else {}
    return {label: rows[label] for label in benchmark.points if label in rows}


def is_measured(rows, label, options):
    """Whether there are figures of a point, of the same sizes and options."""
    row = rows.get(label)
    return (
        row is not None and row["options"] == plain(options) and not row["complaints"]
    )


def save(folder, benchmark, rows):
    """All points, the file as a whole."""
    path = pathlib.Path(folder, f"{benchmark.name}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = ("name", "what", "base", "kind", "steps", "axis")
    content = {field: getattr(benchmark, field) for field in fields}
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps({**content, "points": rows}, indent=2) + "\n")
    temporary.replace(path)


def write(name, content):
    """The results of what is measured apart from the catalogue."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(content, indent=2) + "\n"
    (RESULTS / f"{name}.json").write_text(text)


def stamp(options):
    """What a row says of how it came about."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"options": plain(options), "day": day, "commit": commit()}


def plain(options):
    """Options as JSON has them."""
    named = {k: v._asdict() if hasattr(v, "_asdict") else v for k, v in options.items()}
    return json.loads(json.dumps(named))


def commit(folder=RESULTS.parent):
    """That of a checkout, with a + where files were changed since; "" without git."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        found = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()
