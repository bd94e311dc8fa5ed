"""Runs exported models in a process in which the library is not installed.

python new_process.py FOLDER, in which are the exported folders and requests.pickle;
what they answer is in answers.pickle afterwards.
"""

import concurrent.futures
import pickle
import sys
from pathlib import Path

HIDDEN = {"keras_seqattn", "zoo"}  # not Keras: tensorflow_text imports it itself


class Hiding:
    """Finds what another finder finds, but for what is hidden."""

    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, *where):
        hidden = name.partition(".")[0] in HIDDEN
        return None if hidden else self.finder.find_spec(name, *where)


sys.meta_path[:] = map(Hiding, sys.meta_path)
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow_text  # noqa: E402, F401  its operations are in the graph

THREADS = 8


def ask(model, signature, inputs):
    """The answer as arrays, or the error as a string."""
    tensors = {name: tf.constant(texts, tf.string) for name, texts in inputs.items()}
    try:
        found = model.signatures[signature](**tensors)
    except tf.errors.OpError as error:
        return str(error)
    return {name: value.numpy() for name, value in found.items()}


def wrong_at_once(model, requests, answers):
    """How many answers are others when many threads ask, each in another order."""

    def go_round(first):
        order = [*range(first, len(requests)), *range(first)]
        return sum(not same(ask(model, *requests[i]), answers[i]) for i in order)

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        starts = [n % len(requests) for n in range(THREADS)]
        return sum(pool.map(go_round, starts))


def translated(folder, requests):
    import keras_seqattn as ks

    translations = ks.Translator.load(folder)(list(requests[0][1]["text"]))
    return translations.texts, translations.scores


def same(received, expected):
    if isinstance(expected, str):
        return isinstance(received, str)
    return all(close(received[name], expected[name]) for name in expected)


def close(received, expected):
    """Sums may be in another order, strings may not."""
    if expected.dtype.kind == "f":
        return received.shape == expected.shape and np.allclose(received, expected)
    return np.array_equal(received, expected)


def main():
    folder = Path(sys.argv[1])
    found = {"answers": {}, "wrong": {}, "translated": None}
    for name, asked in pickle.loads((folder / "requests.pickle").read_bytes()).items():
        model = tf.saved_model.load(folder / name)
        answers = [ask(model, *request) for request in asked["requests"]]
        found["answers"][name] = answers
        if asked["at_once"]:
            pairs = asked["requests"][: asked["at_once"]], answers
            found["wrong"][name] = wrong_at_once(model, *pairs)
    if (folder / "translator").exists():
        HIDDEN.clear()  # installed now
        found["translated"] = translated(folder / "translator", asked["requests"])
    (folder / "answers.pickle").write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
