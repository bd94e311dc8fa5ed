"""The same questions to a pipeline in this process: are the answers the same?"""

import contextlib
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
    """By signature, what an exported model has to say."""
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
