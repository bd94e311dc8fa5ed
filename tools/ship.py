"""Turn a run into a shipped model: python tools/ship.py RUN NAME

`python tools/ship.py --again NAME` only makes its SavedModel again: the same weights,
answers and card, with the graph that the library exports today.

RUN is a folder of `seqattn train`; the card of each shipped model has its command. The
result is saved_models/NAME: a folder for `Translator.load` and for TensorFlow Serving,
with a SavedModel in `1`, a manifest of all files, and the card. Its answers to some
texts go to tests/goldens/shipped; a test compares them.

To be small, weights are rounded to bfloat16 before anything is measured, and the Keras
file is compressed; the SavedModel holds them as int8.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import zipfile
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
import tensorflow_text  # noqa: F401  its operations are in the SavedModel

import keras_seqattn as ks
from keras_seqattn import manifest
from keras_seqattn.cli.evaluation_data import read_split
from keras_seqattn.cli.run_json import settings_from_dict
from keras_seqattn.metrics.text_metric import text_metric

ROOT = Path(__file__).parents[1]
GOLDENS = ROOT / "tests" / "goldens" / "shipped"
GOLDEN_TEXTS = 24  # of the test set, beside the examples
KNOWN = ("model", "metrics", "command", "seed", "data", "trained_with", "created_with")

# What the run does not contain: texts about the model and its data, and examples.
ABOUT = {
    "dates": (
        "Reads a date, written in one of many ways in Danish, Dutch, English, Finnish, "
        "French, German, Italian, Polish, Portuguese, Spanish or Swedish, and writes "
        "it as YYYY-MM-DD, character by character. The model is that of Bahdanau et "
        "al. 2015. It was trained on the years 1600 to 2199, and on no dates such as "
        "01/02/2003, which may mean two days. It answers every text with a date, even "
        "if the text contains none.",
        "The date patterns are those of Unicode CLDR (Unicode License v3); the package "
        "Babel contains them.",
        ("third of May 2027", "Donnerstag, 13. Januar 2095", "24 cze 1695"),
    ),
    "numbers-en-de": (
        "Translates a number below 10000 from English words to German words, character "
        "by character. The model is GNMT (Wu et al. 2016) with 4 + 4 layers. It "
        "answers every text with a number, even if the text contains none.",
        "The package num2words (LGPL-2.1) made the words; the model contains none of "
        "its code.",
        ("seven hundred and sixty-three", "four thousand, three hundred and one"),
    ),
    "g2p": (
        "Reads the letters of an English word, and writes the phonemes of its "
        "pronunciation, as in the CMU Pronouncing Dictionary (ARPAbet without stress). "
        "The model is that of Luong et al. 2015 with two layers. It reads lower-case "
        "letters and apostrophes. Names are the hardest words.",
        "It was trained on the CMU Pronouncing Dictionary (BSD-2-Clause, Carnegie "
        "Mellon University).",
        ("enough", "attention", "yacht"),
    ),
}
CARD = """\
# {name}

{about}

```sh
seqattn translate --model {name} "{first}"
seqattn serve {name}
```

In Python, `keras_seqattn.Translator.load("{name}")` loads the model. The folder `1`
holds a SavedModel, which needs no code of this library.

| text | answer |
|---|---|
{examples}

Measured on {count} texts that were held out from training:

| | size | {metrics} |
|---|---|{dashes}|
| `Translator.load`, rounded to bfloat16 | {sizes[translator]} | {values[translator]} |
| SavedModel, int8 | {sizes[saved_model]} | {values[saved_model]} |

{details}

```sh
{command}
python tools/ship.py runs/{name} {name}
```

Made with {versions}. `manifest.json` has the checksum of every file.
"""


def ship(run, name):
    """Write `saved_models/NAME` and its goldens."""
    about, data, examples = ABOUT[name]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, name)
        copied = shutil.copytree(
            run, Path(folder, "run"), ignore=shutil.ignore_patterns("logs")
        )
        _shrink(copied / "translator")
        _export(copied, out, data)
        shutil.copytree(copied / "translator", out, dirs_exist_ok=True)
        models = {"translator": _translator(out), "saved_model": _saved_model(out)}
        content = {"name": name, "about": about, "licence": "Apache-2.0"}
        described = manifest.verify(out / "1")
        content |= {key: described[key] for key in KNOWN}
        content["command"] = _placed(described["command"], f"runs/{name}")
        content["about_data"] = data
        content["test"], pairs = _tested(copied, models)
        card = _card(out, content, models["translator"], examples, len(pairs))
        (out / "README.md").write_text(card, encoding="utf-8")
        (out / manifest.NAME).unlink()
        manifest.write(out, content)
        place = ROOT / "saved_models" / name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(out, place)
    _write_goldens(name, [*examples, *pairs.source[:GOLDEN_TEXTS]], models)
    print(f"{place}: {_size(place)}, {content['test']}")


def export_again(name):
    """Replace the SavedModel of `saved_models/NAME`."""
    place = ROOT / "saved_models" / name
    content, described = (manifest.verify(x) for x in (place, place / "1"))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, name)
        kept = {key: described[key] for key in (*KNOWN[:-1], "about_data")}
        of_model = described["model"]  # the export adds the rest
        kept["model"] = {key: of_model[key] for key in ("function", "arguments")}
        translator = ks.Translator.load(place)
        translator.export(out, version=1, weights="int8", manifest=kept)
        shutil.rmtree(place / "1")
        shutil.copytree(out / "1", place / "1")
    content["created_with"] = manifest.verify(place / "1")["created_with"]
    (place / manifest.NAME).unlink()
    manifest.write(place, content)


def _shrink(folder):
    """Round the weights, and compress the archive: half of each weight is zeros."""
    translator = ks.Translator.load(folder)
    for weight in translator.model.weights:
        if weight.dtype == "float32":
            weight.assign(tf.cast(tf.cast(weight.value, "bfloat16"), "float32"))
    translator.save(folder)
    path = folder / "model.keras"
    with zipfile.ZipFile(path) as old:
        files = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for name, content in files.items():
            new.writestr(name, content)
    (folder / manifest.NAME).unlink()
    manifest.write(folder, {})


def _export(run, out, data):
    command = [sys.executable, "-m", "keras_seqattn", "export", str(run), str(out)]
    command += ["--version", "1", "--weights", "int8", "--note", f"about_data={data}"]
    subprocess.run(command, check=True)


# Both forms answer texts with texts and scores ----------------------------------------


def _translator(folder):
    found = ks.Translator.load(folder)

    def answer(texts):
        translations = found(list(texts))
        return translations.texts, translations.scores

    answer.translator = found
    return answer


def _saved_model(folder):
    signature = tf.saved_model.load(f"{folder}/1").signatures["serving_default"]

    def answer(texts):
        parts = [
            signature(tf.constant(texts[i : i + 64])) for i in range(0, len(texts), 64)
        ]
        found = [text.decode() for part in parts for text in part["text"].numpy()]
        return found, [float(x) for part in parts for x in part["score"].numpy()]

    return answer


def _tested(run, models):
    """Return the metrics of each form, and the pairs of the test set."""
    content = json.loads((run / "run.json").read_text(encoding="utf-8"))
    settings = settings_from_dict(content["settings"])
    pairs, references = read_split(settings, "test")
    values = {}
    for form, model in models.items():
        texts, _ = model(pairs.source)
        metrics = [text_metric(name) for name in settings.metric]
        found = {m.name: float(m(texts, references)) for m in metrics}
        values[form] = {name: round(value, 2) for name, value in found.items()}
    return values, pairs


def _write_goldens(name, texts, models):
    found = {"texts": list(texts)}
    for form, model in models.items():
        answers, scores = model(texts)
        found[form] = {"texts": answers, "scores": [round(float(x), 4) for x in scores]}
    GOLDENS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (GOLDENS / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


# The card -----------------------------------------------------------------------------


def _card(folder, content, model, examples, count):
    rows = zip(examples, model(examples)[0], strict=True)
    values = content["test"]
    names = values["translator"]
    versions = content["trained_with"].items()
    served = _bytes(folder / "1")
    sizes = {"translator": _bytes(folder) - served, "saved_model": served}
    return CARD.format(
        **{key: content[key] for key in ("name", "command")},
        about=_wrapped(content["about"]),
        first=examples[0],
        examples="\n".join(f"| {text} | {answer} |" for text, answer in rows),
        count=count,
        metrics=" | ".join(name.replace("_", " ") for name in names),
        dashes="|".join(["---"] * len(names)),
        sizes={form: f"{size / 1e6:.1f} MB" for form, size in sizes.items()},
        values={
            form: " | ".join(f"{x:.2f}" for x in found.values())
            for form, found in values.items()
        },
        details=_wrapped(
            f"The model has {model.translator.model.count_params():,} parameters; the "
            f"beam is {model.translator.search.width} wide. {content['about_data']} "
            "The weights have the licence of this project, Apache 2.0."
        ),
        versions=", ".join(f"{package} {version}" for package, version in versions),
    )


def _wrapped(text):
    return textwrap.fill(text, 88, break_on_hyphens=False)


def _placed(command, where):
    """Return the command with another output folder, without paths of one machine."""
    before, _, after = command.partition("--out ")
    return f"{before}--out {' '.join([where, *after.split()[1:]])}"


def _size(folder):
    return f"{_bytes(folder) / 1e6:.2f} MB"


def _bytes(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    if sys.argv[1] == "--again":
        export_again(sys.argv[2])
    else:
        ship(Path(sys.argv[1]), sys.argv[2])
