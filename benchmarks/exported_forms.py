"""`python -m benchmarks.exported_forms`: float32, bfloat16 and int8 side by side.

The program measures the size of each export of a trained translator, the time to load
it and to translate one sentence in a process without this library, and BLEU on
Multi30k's test_2016_flickr.
KERAS_SEQATTN_RUN names the translator, KERAS_SEQATTN_DATA the folder with the corpus.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

FORMS = ("float32", "bfloat16", "int8")
SINGLE, WARM_UP, BATCH = 200, 20, 64  # sentences
MOST_SECONDS = 3.0  # limit of the time to load


def measured(folder, sentences):
    """Measure one export in this process: return seconds and translations."""
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  its operations are in the graph

    start = time.perf_counter()
    loaded = tf.saved_model.load(folder)
    load = time.perf_counter() - start
    translate = loaded.signatures["serving_default"]

    def texts(batch):
        return [x.decode() for x in translate(tf.constant(batch))["text"].numpy()]

    seconds = []
    for sentence in sentences[: WARM_UP + SINGLE]:
        start = time.perf_counter()
        texts([sentence])
        seconds.append(time.perf_counter() - start)
    found = []
    for i in range(0, len(sentences), BATCH):
        found += texts(sentences[i : i + BATCH])
    return {"load": load, "single": seconds[WARM_UP:], "texts": found}


def row(translator, form, pairs):
    """Return the figures of one form."""
    from benchmarks import trained

    with tempfile.TemporaryDirectory() as folder:
        translator.export(f"{folder}/model", weights=form)
        size = sum(x.stat().st_size for x in pathlib.Path(folder).rglob("*"))
        command = [sys.executable, "-m", "benchmarks.exported_forms", f"{folder}/model"]
        done = subprocess.run(
            command,
            input=json.dumps(list(pairs.source)),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    found = json.loads(done.stdout)
    p50, p99 = 1000 * np.percentile(found["single"], [50, 99])
    bleu = trained.bleu(found["texts"], pairs)
    return {"MB": size / 1e6, "load": found["load"], "p50": p50, "p99": p99} | {
        "BLEU": float(bleu)
    }


def main():
    import keras_seqattn as ks
    from benchmarks import store, trained

    translator, pairs = (
        trained.translator(ks.BeamSearch(5)),
        trained.test_set(),
    )
    rows = {form: row(translator, form, pairs) for form in FORMS}
    store.write("exported_forms", {**store.stamp({}), "rows": rows})
    for cells in table(rows):
        print("".join(f"{cell:>10}" for cell in cells))
    slowest = max(found["load"] for found in rows.values())
    print(f"Loaded within {slowest:.1f} s, at most {MOST_SECONDS:.0f} s.")
    return int(slowest > MOST_SECONDS)


def table(rows):
    """Return rows of strings; the first is the head."""
    found = [["", "size, MB", "load, s", "p50, ms", "p99, ms", "BLEU"]]
    for form, values in rows.items():
        figures = (f"{x:.{_digits(name)}f}" for name, x in values.items())
        found.append([form, *figures])
    return found


def _digits(name):
    """Return the number of decimals."""
    return {"load": 2}.get(name, 1)


if __name__ == "__main__":
    if sys.argv[1:]:  # the process of one export
        print(json.dumps(measured(sys.argv[1], json.load(sys.stdin))))
    else:
        sys.exit(main())
