"""Compare the answers of the shipped models in two checkouts, bit for bit.

    python tools/compare_shipped.py --against WORKTREE [--rows N] [NAME ...]

Each checkout answers in its own process, with its own code and its own files. It
translates the whole test sets of the cards: eagerly with a greedy search, eagerly with
the search of the card, and with the SavedModel. Texts, scores, tokens and the bytes of
the alignments must be equal; the exit code is 1 if they are not.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
TASKS = {
    "dates": ("dates", {}),
    "g2p": ("g2p", {}),
    "numbers-en-de": ("numbers", {"source": "en", "target": "de"}),
}
BATCH = 64


def main():
    """Compare, and return the exit code."""
    parser = _parser()
    parsed = parser.parse_args()
    if unknown := {*parsed.names} - {*TASKS}:
        parser.error(f"expected names of {', '.join(TASKS)}, received {unknown}")
    if parsed.answer:
        _answer(Path(parsed.answer), Path(parsed.against), parsed.rows, parsed.names)
        return 0
    places = [ROOT, Path(parsed.against).resolve()]
    is_same = True
    for name in parsed.names or TASKS:
        here, there = (_answers(place, name, parsed.rows) for place in places)
        different = _differences(here, there)
        is_same = is_same and not different
        rows = len(here["texts"])
        print(f"{name}: {rows} texts, {len(here)} arrays, {different or 'all equal'}")
    return 0 if is_same else 1


def _parser():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(TASKS))
    parser.add_argument("--against", required=True, metavar="WORKTREE")
    parser.add_argument("--rows", type=int, metavar="N", help="first texts of each set")
    parser.add_argument("--answer", metavar="FILE", help=argparse.SUPPRESS)
    return parser


def _answers(place, name, rows):
    """Return the arrays of one model in one checkout, from a new process."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/answers.npz"
        command = [sys.executable, __file__, name, "--against", place, "--answer", file]
        command += [] if rows is None else ["--rows", str(rows)]
        paths = {"PYTHONPATH": str(place), "TF_CPP_MIN_LOG_LEVEL": "3"}
        start = time.monotonic()
        subprocess.run(command, env={**os.environ, **paths}, cwd=place, check=True)
        print(f"{name} in {place}: {time.monotonic() - start:.0f} s", flush=True)
        with np.load(file) as arrays:
            return {key: arrays[key] for key in arrays}


def _differences(here, there):
    """Return a text that says what differs; "" if nothing does."""
    found = []
    for key in sorted({*here, *there}):
        one, other = here.get(key), there.get(key)
        if one is None or other is None:
            found.append(f"{key} is in one checkout only")
        elif one.shape != other.shape or one.dtype != other.dtype:
            sizes = f"{one.dtype}{one.shape} and {other.dtype}{other.shape}"
            found.append(f"{key}: {sizes}")
        elif one.tobytes() != other.tobytes():
            unequal = _bits(one) != _bits(other)
            first = tuple(int(i) for i in np.argwhere(unequal)[0])
            pair = f"{one[first]!r} and {other[first]!r}"
            found.append(f"{key}: {unequal.sum()} differ, first at {first}: {pair}")
    return "; ".join(found)


def _bits(array):
    """Return floats as integers, so that 0.0 and -0.0 differ."""
    return array.view(f"u{array.itemsize}") if array.dtype.kind == "f" else array


# In the process of a checkout ---------------------------------------------------------


def _answer(file, place, rows, names):
    """Write the arrays of one model."""
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    import keras_seqattn as ks

    if not Path(ks.__file__).is_relative_to(place):
        raise SystemExit(f"expected the code of {place}, received {ks.__file__}")
    [name] = names
    task, options = TASKS[name]
    texts = list(ks.data.tasks.task(task, **options).test.source[:rows])
    translator = ks.Translator.load(place / "saved_models" / name)
    greedy = translator.with_search(ks.Greedy())
    arrays = {"texts": np.array(texts)}
    arrays |= _named("greedy", _eager(greedy, texts))
    arrays |= _named("card", _eager(translator, texts))
    arrays |= _named("saved_model", _served(place / "saved_models" / name, texts))
    np.savez(file, **arrays)


def _named(prefix, arrays):
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def _eager(translator, texts):
    found = translator.translate(texts)
    return {
        "texts": np.array(found.texts),
        "scores": np.array([one.score for one in found]),
        "ranking": np.array([one.ranking for one in found]),
        "tokens": np.array(["\n".join(one.target_tokens) for one in found]),
        "shapes": np.array([one.alignment.shape for one in found]),
        "alignments": np.concatenate([one.alignment.ravel() for one in found]),
    }


def _served(folder, texts):
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  its operations are in the SavedModel

    [version] = [path for path in folder.iterdir() if path.name.isdecimal()]
    signatures = tf.saved_model.load(str(version)).signatures
    rows = [tf.constant(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
    found = {}
    for name in ("serving_default", "translate_with_attention"):
        batches = [signatures[name](text=row) for row in rows]
        for key in batches[0]:
            parts = [_flat(batch[key].numpy()) for batch in batches]
            found[f"{name}/{key}"] = np.concatenate(parts)
    return found


def _flat(array):
    """Return flat arrays, because axes differ from batch to batch."""
    return array.ravel().astype("S") if array.dtype == object else array.ravel()


if __name__ == "__main__":
    sys.exit(main())
