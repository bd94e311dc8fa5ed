"""Evaluates runs, and writes the tables of results in zoo/README.md.

    python -m zoo.measured add RUN multi30k/luong2015-dot "dot, input feeding"
    python -m zoo.measured show
    python -m zoo.measured reached multi30k 38

`add` evaluates the best translator of a run on the validation and the test set, and
writes the results to `zoo/results/`. `show` writes the tables and pictures from these
files, so no number in a table is typed by hand. `reached` prints when the learning
curves of a table reached a value.
"""

import argparse
import json
import re
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

from keras_seqattn.errors import four_part_error

HERE = Path(__file__).parent
RESULTS, README = HERE / "results", HERE / "README.md"
PICTURES = HERE.parent / "docs" / "images"
SPLITS = ("validation", "test")
METRICS = {  # heading and number of digits
    "tokenized_bleu": ("BLEU", 1),
    "bleu": ("BLEU, 13a", 1),
    "chrf": ("chrF", 1),
    "wer": ("WER", 1),
    "per": ("PER", 1),
    "exact_match": ("exact match", 1),
}
ERROR_RATES = ("wer", "per")


def add(run, name, what, search):
    """Evaluate a run, and write its file of results.

    Args:
        run: folder of `seqattn train`.
        name: "table/model", path of the file in `zoo/results`.
        what: short description of the model.
        search: list of str, search options of `seqattn evaluate`.
    """
    run = Path(run)
    content = json.loads((run / "run.json").read_text(encoding="utf-8"))
    if "continued" in content:
        raise four_part_error(
            "measured got a run with changed settings, which its command cannot repeat",
            "a run that kept its settings",
            f"{content['continued']} after {content['command']!r}",
            f"Train it again: seqattn train --repeat {run / 'run.json'} --out NEW",
        )
    lines = (run / "history.jsonl").read_text(encoding="utf-8").splitlines()
    history = [json.loads(line) for line in lines]
    metric = content["settings"]["metric"][0]
    curve = [e for e in history if f"val_{metric}" in e]
    values = {split: _evaluated(run, split, search) for split in SPLITS}
    where = f"runs/{name.split('/')[-1]}"
    result = {
        "model": content["settings"]["model"],
        "what": what,
        "command": _placed(content["command"], where),
        "evaluated": shlex.join(["seqattn", "evaluate", where, *search]),
        "seed": content["settings"]["seed"],
        "parameters": _parameters(run),
        "epochs": history[-1]["epoch"],
        "minutes": round(history[-1]["seconds"] / 60, 1),
        "memory": history[-1]["memory"],
        "machine": content["machine"],
        "versions": content["versions"],
        "values": values,
        "metric": metric,
        "curve": [
            [e["epoch"], round(e["seconds"] / 60, 2), round(e[f"val_{metric}"], 2)]
            for e in curve
        ],
    }
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    path.write_text(f"{_short_lists(text)}\n", encoding="utf-8")


def table(name):
    """Return the lines of a table, with the best validation result first."""
    results = read(name)
    metrics = [m for m in METRICS if any(m in r["values"]["test"] for r in results)]
    columns = ["", "model", "what", "parameters", "seed"]
    columns += [f"{METRICS[m][0]} {split}" for m in metrics for split in SPLITS]
    columns += ["epochs", "minutes", "memory, GiB", "machine"]
    rows = [columns, ["---"] * len(columns)]
    for number, result in enumerate(results, start=1):
        values = [
            f"{result['values'][split][m]:.{METRICS[m][1]}f}"
            for m in metrics
            for split in SPLITS
        ]
        row = [number, f"`{result['model']}`", result["what"]]
        row += [f"{result['parameters']:,}", result["seed"], *values]
        row += [result["epochs"], result["minutes"], f"{result['memory'] / 1024:.1f}"]
        row += [result["machine"]]
        rows.append(row)
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    lines += _means(results, metrics)
    lines += ["", f"![Learning curves](../docs/images/{_picture(name)})", "", "```bash"]
    for number, result in enumerate(results, start=1):
        lines += [f"# {number}", result["command"], result["evaluated"]]
    return [*lines, "```"]


def _means(results, metrics):
    """Return a line for each model that was trained with several seeds."""
    groups = {}
    for result in results:
        groups.setdefault((result["model"], result["what"]), []).append(result)
    lines = []
    for (model, what), group in groups.items():
        if len(group) == 1:
            continue
        values = [
            f"{METRICS[m][0]} {split} "
            f"{statistics.mean(r['values'][split][m] for r in group):.{METRICS[m][1]}f}"
            for m in metrics
            for split in SPLITS
        ]
        seeds = ", ".join(str(seed) for seed in sorted(r["seed"] for r in group))
        lines += ["", f"`{model}`, {what}, mean of the seeds {seeds}: "]
        lines[-1] += f"{', '.join(values)}."
    return lines


def read(name):
    """Return the results of a table, with the best validation result first."""
    paths = sorted((RESULTS / name).glob("*.json"))
    results = [json.loads(path.read_text(encoding="utf-8")) for path in paths]

    def rank(result):
        value = result["values"]["validation"][result["metric"]]
        return value if result["metric"] in ERROR_RATES else -value

    return sorted(results, key=rank)


def written(text):
    """Return the text of README.md with all tables written again."""
    for name in tables():
        begin, end = f"<!-- measured: {name} -->", f"<!-- end: {name} -->"
        pattern = f"{re.escape(begin)}.*{re.escape(end)}"
        block = "\n".join([begin, *table(name), end])
        text, count = re.subn(pattern, lambda _, b=block: b, text, flags=re.DOTALL)
        if count != 1:
            raise four_part_error(
                f"zoo/README.md does not have one place for the table {name}",
                f"{begin} and {end} once",
                f"both {count} times",
                "Add the two lines",
            )
    return text


def reached(name, value):
    """Yield for each run of a table when it reached a value: epoch and minute."""
    for number, result in enumerate(read(name), start=1):
        sign = -1 if result["metric"] in ERROR_RATES else 1
        there = (p for p in result["curve"] if sign * p[2] >= sign * value)
        when = "not reached"
        if first := next(there, None):
            when = f"epoch {first[0]}, {first[1]:.1f} minutes, {first[2]:.1f}"
        what = f"{result['model']}, {result['what']}, seed {result['seed']}"
        yield f"{number}: {when} ({what}; {result['machine']})"


def tables():
    """Return the names of all tables."""
    return sorted({path.parent.name for path in RESULTS.glob("*/*.json")})


def draw(name):
    """Draw the learning curves of a table: the validation metric over epochs.

    Minutes are not comparable between machines; the table has them.
    """
    from matplotlib.figure import Figure  # pip install "keras_seqattn[plot]"

    results = read(name)
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for number, result in enumerate(results, start=1):
        epochs, _, values = zip(*result["curve"], strict=True)
        label = f"{number} {result['model']}, {result['what']}, seed {result['seed']}"
        axes.plot(epochs, values, marker=".", linewidth=1.5, label=label)
        axes.annotate(
            f" {number}", (epochs[-1], values[-1]), va="center", fontsize="small"
        )
    axes.set_xlabel("epochs")
    axes.set_ylabel(f"{METRICS[results[0]['metric']][0]}, validation set, greedy")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.2)
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(PICTURES / _picture(name), dpi=120)


def main(arguments=None):
    """Run one of the commands above."""
    parser = argparse.ArgumentParser(prog="python -m zoo.measured")
    verbs = parser.add_subparsers(dest="verb", required=True)
    adding = verbs.add_parser("add", help="evaluate a run and keep the numbers")
    adding.add_argument("run")
    adding.add_argument("name", help="TABLE/NAME of the file in zoo/results")
    adding.add_argument("what", help="short description of the model")
    verbs.add_parser("show", help="write the tables and draw the pictures")
    reaching = verbs.add_parser("reached", help="print when the curves reached a value")
    reaching.add_argument("table")
    reaching.add_argument("value", type=float, help="value of the validation metric")
    parsed, search = parser.parse_known_args(arguments)
    if parsed.verb == "add":
        add(parsed.run, parsed.name, parsed.what, search)
        return
    if parsed.verb == "reached":
        print("\n".join(reached(parsed.table, parsed.value)))
        return
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
    for name in tables():
        draw(name)


def _evaluated(run, split, search):
    command = [sys.executable, "-m", "keras_seqattn", "evaluate", str(run), "--json"]
    command += ["--split", split, *search]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    values = json.loads(done.stdout)
    return {name: round(values[name], 3) for name in METRICS if name in values}


def _parameters(run):
    import keras_seqattn as ks

    return ks.Translator.load(run / "translator").model.count_params()


def _placed(command, where):
    """Return the command with a relative folder instead of one on this machine."""
    words = shlex.split(command)
    words[words.index("--out") + 1] = where
    return shlex.join(words)


def _short_lists(text):
    """Put lists of three numbers on one line."""
    number = r"\s+([-\d.]+)"
    pattern = rf"\[{number},{number},{number}\s+\]"
    return re.sub(pattern, r"[\1, \2, \3]", text)


def _picture(name):
    return f"{name}_curves.png"


if __name__ == "__main__":
    main()
