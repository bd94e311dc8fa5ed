"""Comparisons of two results of `decode`."""

import numpy as np

import keras_seqattn as ks
from tests.decoding.fakes import log_probs
from tests.decoding.real_models import SOURCE


def assert_same(received, expected, atol=1e-5, rows=slice(None)):
    """Check that results are equal, up to padding; `rows` are those of `expected`."""
    for name, one, two in zip(expected._fields, received, expected, strict=True):
        one, two = np.asarray(one), np.asarray(two)[rows]
        if name in ("tokens", "alignments"):
            shape = np.maximum(one.shape, two.shape)
            room = [[(0, n) for n in shape - x.shape] for x in (one, two)]
            one, two = map(np.pad, (one, two), room)
        np.testing.assert_allclose(one, two, atol=atol, err_msg=name)


def forced_log_probs(model, target):
    """Return those of the tokens by a call of the model, which compiles no function."""
    fed = np.concatenate([np.ones([len(target), 1], int), target[:, :-1]], axis=1)
    fed[fed == 2] = 0
    logs = log_probs(np.asarray(model({"source": SOURCE, "target": fed}), "float64"))
    chosen = np.take_along_axis(logs, target[..., None], axis=-1)[..., 0]
    return np.where(target != 0, chosen, 0.0)


def check_scores(model, decoded, place=0, tokens=None):
    """Check that teacher forcing gives the scores and alignments of a hypothesis."""
    scored = ks.decoding.score(model, SOURCE, decoded.tokens[:, place], tokens=tokens)
    np.testing.assert_allclose(scored.scores, decoded.scores[:, place], atol=1e-4)
    looks = decoded.alignments[:, place]
    np.testing.assert_allclose(scored.alignments, looks, atol=1e-5)
    return scored
