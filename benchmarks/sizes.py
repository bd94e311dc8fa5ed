"""Sizes, weights and data of the reference model, for all contenders.

It needs only NumPy. Each contender runs in its own process, with its own framework, and
makes the same weights and data there.
"""

from typing import NamedTuple

import numpy as np

SEED = 1409


class Size(NamedTuple):
    """Sizes of a batch and of the model; each encoder direction has `units`, too."""

    batch: int = 64
    source: int = 16
    target: int = 16
    embedding: int = 256
    units: int = 512
    vocabulary: int = 8000

    def small(self):
        """Return a sixteenth of all sizes, to test that a benchmark runs."""
        return Size(*(max(2, size // 16) for size in self))

    def shapes(self):
        """Return the shapes of the weights by name, as Keras has them."""
        e, u, v = self.embedding, self.units, self.vocabulary
        return {
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

    def spread(self):
        """Return by which factors weights must grow, so that logits are apart.

        Where the rounding of the rivals decides, searches find other tokens.
        """
        return {"logits.kernel": 20.0}


REFERENCE = Size()


class TransformerSize(NamedTuple):
    """Sizes of a batch and of a Transformer; the defaults are the preset "tiny"."""

    batch: int = 64
    source: int = 16
    target: int = 16
    units: int = 128
    vocabulary: int = 10_000
    feed_forward_units: int = 256
    layers: int = 4
    heads: int = 4

    def small(self):
        """Return a sixteenth of all sizes, to test that a benchmark runs."""
        sizes = (max(2, size // 16) for size in self)
        return TransformerSize(*sizes)

    def shapes(self):
        """Return the shapes of the weights by name; all projections are `[in, out]`."""
        u, v = self.units, self.vocabulary
        shapes = {"embedding": (v, u), "logits.bias": (v,)}
        for layer in range(self.layers):
            shapes |= self._layer(f"encoder.{layer}", ("self",))
            shapes |= self._layer(f"decoder.{layer}", ("self", "cross"))
        return shapes

    def spread(self):
        """Return by which factors weights must grow, so that logits are apart.

        The matrix before the logits is the embedding, so what it reads grows.
        """
        norm = f"decoder.{self.layers - 1}.dense_norm"
        return {f"{norm}.gamma": 2.0, f"{norm}.beta": 2.0}

    def _layer(self, name, attentions):
        u, f = self.units, self.feed_forward_units
        shapes = {
            f"{name}.inner.kernel": (u, f),
            f"{name}.inner.bias": (f,),
            f"{name}.outer.kernel": (f, u),
            f"{name}.outer.bias": (u,),
            f"{name}.dense_norm.gamma": (u,),
            f"{name}.dense_norm.beta": (u,),
        }
        for attention in attentions:
            of = f"{name}.{attention}"
            for part in ("query", "key", "value", "output"):
                shapes[f"{of}.{part}.kernel"] = (u, u)
                if part != "key":  # it would change no alignment
                    shapes[f"{of}.{part}.bias"] = (u,)
            shapes |= {f"{of}_norm.gamma": (u,), f"{of}_norm.beta": (u,)}
        return shapes


TINY = TransformerSize()


def weights(size):
    """Return arrays by name in Keras's shapes: kernels `[in, out]`, gates z, r, n.

    Embeddings and attention weights are larger than Keras's initial ones. With those,
    alignments are almost uniform, so a wrong attention would give the same loss.
    """
    rng = np.random.default_rng(SEED)
    return {name: _draw(rng, name, shape) for name, shape in size.shapes().items()}


def _gru(name, depth, units):
    return {
        f"{name}.kernel": (depth, 3 * units),
        f"{name}.recurrent_kernel": (units, 3 * units),
        f"{name}.bias": (2, 3 * units),  # of the input product, of the recurrent one
    }


def _draw(rng, name, shape):
    if name.endswith("gamma"):
        return (1 + 0.1 * rng.standard_normal(shape)).astype("float32")
    if name.endswith(("bias", "beta")):
        return (0.1 * rng.standard_normal(shape)).astype("float32")
    if name.endswith("embedding"):
        return rng.uniform(-1, 1, shape).astype("float32")
    limit = np.sqrt(6 / sum(shape))  # Glorot's
    limit *= {"query.kernel": 2, "key.kernel": 2, "score.kernel": 10}.get(name, 1)
    return rng.uniform(-limit, limit, shape).astype("float32")


def batch(size, masked=False):
    """Return ids `source`, `target` and labels of one batch, 0 in the padding.

    With masks, sentences have random lengths of half the positions or more.
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
