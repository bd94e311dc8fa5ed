"""Contenders that decode, and weights that separate the tokens clearly.

No sentence ends before the last step, so all contenders take the same steps. The times
include the encoder. Our times include work that the rivals do not do: masks, scores of
greedy decoding, alignments, forbidden tokens.
"""

import numpy as np

from benchmarks import sizes
from benchmarks.contender import Contender

SPECIAL = 3  # padding, start and end are the first ids


def weights(size):
    """Return weights of the model with which no hypothesis ends."""
    found = sizes.weights(size)
    for name, factor in size.spread().items():
        found[name] *= factor
    found["logits.bias"][:SPECIAL] = -100.0
    return found


def source(size):
    """Return ids `[batch, source]` without padding and special tokens."""
    rng = np.random.default_rng(sizes.SEED)
    ids = rng.integers(SPECIAL, size.vocabulary, (size.batch, size.source))
    return ids.astype("int32")


def contender(search, size):
    """Return a contender; `search()` returns tokens and, if all have them, scores."""

    def run():
        return [np.asarray(result) for result in search()]

    def results():
        found = dict(zip(("tokens", "scores"), run(), strict=False))
        # Ours has an axis of hypotheses where greedy decoding has only one.
        found["tokens"] = found["tokens"].reshape(-1, size.target)
        return found

    return Contender(run, results)
