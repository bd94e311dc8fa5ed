"""The same questions in this process and in a new one: are the answers the same?"""

import contextlib
import pickle
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

from keras_seqattn.decoding import loop, scoring

# Sums in another order: probabilities, and logarithms of them, which are longer sums.
ALIGNMENTS, SCORES = 1e-5, 1e-4
ON_TEXT = ("serving_default", "translate_with_attention", "nbest", "encode")


def requests(texts):
    """One for each signature; the targets are the sources in another order."""
    yield from ((name, {"text": texts}) for name in ON_TEXT)
    yield "score", {"source": texts, "target": texts[::-1]}


def answers(pipeline, texts):
    everything = arrays(pipeline(texts))
    best = {"text": everything["texts"][:, 0], "score": everything["scores"][:, 0]}
    return {
        "serving_default": best,
        "translate_with_attention": everything,
        "nbest": arrays(pipeline.n_best(texts)),
        "encode": arrays(pipeline.encode(texts)),
        "score": arrays(pipeline.score(texts, texts[::-1])),
    }


@contextlib.contextmanager
def eagerly():
    """Searches and scores are not compiled meanwhile: one operation after the other."""

    def uncompiled(model, key, function):
        return lambda *tensors: function(model, *tensors)

    with (
        mock.patch.object(loop, "compiled", uncompiled),
        mock.patch.object(scoring, "compiled", uncompiled),
    ):
        yield


def check_equal(received, expected):
    """Strings and integers are the same, numbers within the bounds above."""
    assert sorted(received) == sorted(expected)
    for name, value in expected.items():
        assert received[name].shape == value.shape, name
        if value.dtype.kind == "f":
            bound = ALIGNMENTS if name.startswith("alignment") else SCORES
            np.testing.assert_allclose(received[name], value, rtol=0, atol=bound)
        else:
            np.testing.assert_array_equal(received[name], value, err_msg=name)


def arrays(named_tuple):
    return {name: np.array(value) for name, value in named_tuple._asdict().items()}


class Served(NamedTuple):
    answers: dict  # by folder, a list of dicts of arrays, or of errors
    wrong: dict  # by folder, wrong answers to many threads
    translated: tuple  # texts and scores of a saved translator, or None


def ask(folder, requests, at_once=0):
    """The answers of exported folders to requests, from one new process.

    A folder `translator` holds a saved one, which translates the first request's texts.
    Requests are pairs: a signature, a dict from inputs to texts. Many threads ask the
    first `at_once` again.
    """
    script = Path(__file__).with_name("new_process.py")
    asked = {n: {"requests": x, "at_once": at_once} for n, x in requests.items()}
    Path(folder, "requests.pickle").write_bytes(pickle.dumps(asked))
    how = {"cwd": folder, "capture_output": True, "text": True, "timeout": 600}
    done = subprocess.run([sys.executable, str(script), str(folder)], **how)
    assert done.returncode == 0, done.stderr
    return Served(**pickle.loads(Path(folder, "answers.pickle").read_bytes()))


def text(value):
    if isinstance(value, bytes):
        return value.decode()
    return [text(each) for each in value]
