"""Are the default settings of `seqattn train` good? A trial against drawn settings.

    python -m tools.default_settings draw
    python -m tools.default_settings run --lines 2500 --folder runs/trial-2500

`run` trains on lines of Tatoeba (`KERAS_SEQATTN_DATA` names the folder of the corpora)
with the default options, and then with five settings that a seed draws from `SPACE`,
for the same time each. It prints chrF on the test set, all translations of a sentence
as references. Runs that are complete are not repeated, and a stopped one continues.
"""

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

SPACE = {  # fixed before the first trial
    "--text": [
        "words:8000",
        "sentencepiece:500:bpe",
        "sentencepiece:1000:bpe",
        "sentencepiece:2000:bpe",
        "sentencepiece:4000:bpe",
        "sentencepiece:8000:bpe",
        "characters",
    ],
    "units": [64, 128, 192, 256, 384],
    "--batch-size": [16, 32, 64, 128],
    "--learning-rate": [0.0005, 0.001, 0.002, 0.004],
    "--schedule": ["constant", "cosine"],
    "--warmup": [0, 100],
    "--label-smoothing": [0, 0.1],
}
MODELS = {  # --model: other arguments for --set, by the number of units
    "bahdanau2015": lambda units, rate: {
        "embedding": units,
        "attention_units": units,
        "maxout": units,
    },
    "luong2015": lambda units, rate: {"embedding": units, "dropout": rate},
    "caglayan2017": lambda units, rate: {
        "embedding": units,
        "attention_units": units,
        "embedding_dropout": rate,
        "context_dropout": rate,
        "output_dropout": rate,
    },
    "gnmt2016": lambda units, rate: {
        "embedding": units,
        "attention_units": units,
        "layers": 2,
        "dropout": rate,
    },
}
DROPOUT = [0.0, 0.1, 0.2, 0.3, 0.5]
SETTINGS, SEED = 5, 2026


def draw():
    """Return lists of options, always the same ones."""
    source, drawn = random.Random(SEED), []
    for _ in range(SETTINGS):
        chosen = {name: source.choice(values) for name, values in SPACE.items()}
        model, units = source.choice([*MODELS]), chosen.pop("units")
        values = {"units": units, **MODELS[model](units, source.choice(DROPOUT))}
        words = [str(word) for option in chosen.items() for word in option]
        sizes = [f"{name}={value}" for name, value in values.items()]
        drawn.append([*words, "--model", model, "--preset", "small", "--set", *sizes])
    return drawn


def run(lines, folder):
    """Train with the default options and all drawn settings; print the results."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = Path(os.environ["KERAS_SEQATTN_DATA"]) / "tatoeba"
    pairs = _sample(corpus / "deu-eng.train.tsv.gz", lines, folder / "train.tsv")
    share = max(1, lines // 5_000)  # a probe that measures speed needs no more lines
    probe = _sample(
        corpus / "deu-eng.train.tsv.gz", lines // share, folder / "probe.tsv"
    )
    test = _with_references(corpus / "deu-eng.test.tsv.gz", folder)
    seconds = _train(pairs, folder / "default", [])
    _report("default", [], seconds, _chrf(folder / "default", test))
    for number, options in enumerate(draw(), start=1):
        _train(probe, folder / f"probe-{number}", [*options, "--epochs", "2"])
        epoch = share * _last_epoch(folder / f"probe-{number}")
        epochs = max(1, round(seconds / epoch))
        path = folder / f"drawn-{number}"
        took = _train(pairs, path, [*options, "--epochs", str(epochs)])
        _report(f"drawn {number}", options, took, _chrf(path, test))


def _sample(path, lines, out):
    """Write lines of the corpus that a seed draws; all of them if there are fewer."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = file.readlines()
    if lines < len(rows):
        rows = random.Random(SEED).sample(rows, lines)
    out.write_text("".join(rows), encoding="utf-8")
    return out


def _with_references(path, folder):
    """Write the test sources, each once, and return all their targets."""
    targets = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in file:
            source, target = row.rstrip("\n").split("\t")[:2]
            targets.setdefault(source, []).append(target)
    (folder / "test.txt").write_text("\n".join([*targets, ""]), encoding="utf-8")
    return folder / "test.txt", [*targets.values()]


def _train(pairs, path, options):
    """Train, or continue, and return the seconds that it took."""
    command = [sys.executable, "-m", "keras_seqattn", "train"]
    if (path / "run.json").exists():
        command += ["--resume", str(path)]
    else:
        command += ["--pairs", str(pairs), "--out", str(path), *options]
    with (path.parent / f"{path.name}.log").open("a", encoding="utf-8") as log:
        subprocess.run(command, check=True, stdout=log, stderr=log)
    return _history(path)[-1]["seconds"]


def _history(path):
    lines = (path / "history.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _last_epoch(path):
    """Return the seconds of the last epoch: the first one also compiles."""
    first, second = (entry["seconds"] for entry in _history(path)[-2:])
    return second - first


def _chrf(path, test):
    """Return chrF of the translations of the test sources."""
    from keras_seqattn.metrics import chrf

    sources, references = test
    command = [sys.executable, "-m", "keras_seqattn", "translate", str(path)]
    done = subprocess.run(
        [*command, str(sources)], check=True, stdout=subprocess.PIPE, text=True
    )
    return chrf(done.stdout.splitlines(), references)


def _report(name, options, seconds, value):
    took = f"{seconds / 60:5.1f} min"
    print(f"{name:10} chrF {value:5.2f}  {took}  {' '.join(options)}", flush=True)


def main(arguments=None):
    """Run one of the commands above."""
    parser = argparse.ArgumentParser(prog="python -m tools.default_settings")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("draw", help="print the drawn settings")
    running = verbs.add_parser("run", help="train with all settings")
    running.add_argument("--lines", type=int, required=True)
    running.add_argument("--folder", type=Path, required=True)
    parsed = parser.parse_args(arguments)
    if parsed.verb == "draw":
        for options in draw():
            print(" ".join(options))
        return
    run(parsed.lines, parsed.folder)


if __name__ == "__main__":
    main()
