"""The reference model's sizes, its weights by names that all contenders share, data.

NumPy alone: contenders run in processes of their own, and each of them makes the same
weights and the same data by itself, whatever it computes with.
"""

from typing import NamedTuple

import numpy as np

SEED = 1409


class Size(NamedTuple):
    """Of a batch and of the model; `units` are those of each encoder direction too."""

    batch: int = 64
    source: int = 16
    target: int = 16
    embedding: int = 256
    units: int = 512
    vocabulary: int = 8000

    def small(self):
        """A sixteenth of everything: whether it runs, not how fast."""
        return Size(*(max(2, size // 16) for size in self))


REFERENCE = Size()


def weights(size):
    """Arrays by name, as Keras shapes them: kernels `[in, out]`, gates z, r, n.

    Embeddings and attention are larger than Keras begins with. There alignments are all
    but uniform, another attention gives the same loss, and no comparison would see it.
    """
    e, u, v = size.embedding, size.units, size.vocabulary
    shapes = {
        "source_embedding": (v, e),
        "target_embedding": (v, e),
        **_gru("encoder.forward", e, u),
        **_gru("encoder.backward", e, u),
        "bridge.kernel": (2 * u, u),
        "bridge.bias": (u,),
        "key.kernel": (2 * u, u),
        "query.kernel": (u, u),
        "score.kernel": (u, 1),
        **_gru("decoder", e + 2 * u, u),
        "hidden.kernel": (3 * u, u),
        "hidden.bias": (u,),
        "logits.kernel": (u, v),
        "logits.bias": (v,),
    }
    rng = np.random.default_rng(SEED)
    return {name: _draw(rng, name, shape) for name, shape in shapes.items()}


def _gru(name, depth, units):
    return {
        f"{name}.kernel": (depth, 3 * units),
        f"{name}.recurrent_kernel": (units, 3 * units),
        f"{name}.bias": (2, 3 * units),  # of the input product, of the recurrent one
    }


def _draw(rng, name, shape):
    if name.endswith("bias"):
        return (0.1 * rng.standard_normal(shape)).astype("float32")
    if name.endswith("embedding"):
        return rng.uniform(-1, 1, shape).astype("float32")
    limit = np.sqrt(6 / sum(shape))  # Glorot's
    limit *= {"query.kernel": 2, "key.kernel": 2, "score.kernel": 10}.get(name, 1)
    return rng.uniform(-limit, limit, shape).astype("float32")


def batch(size, masked=False):
    """Ids `source`, `target` and labels of one batch, 0 where masked.

    Masked sentences have half the positions or more, in random lengths.
    """
    rng = np.random.default_rng(SEED)
    lengths = {"source": size.source, "target": size.target}
    real = {}
    for side, length in lengths.items():
        shortest = max(1, length // 2) if masked else length
        of_row = rng.integers(shortest, length + 1, (size.batch, 1))
        real[side] = np.arange(length) < of_row
    tokens = {}
    for name, side in (
        ("source", "source"),
        ("target", "target"),
        ("labels", "target"),
    ):
        ids = rng.integers(1, size.vocabulary, (size.batch, lengths[side]), "int32")
        tokens[name] = np.where(real[side], ids, 0).astype("int32")
    return tokens["source"], tokens["target"], tokens["labels"]
