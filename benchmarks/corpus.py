"""Multi30k in subwords. Learning them and encoding are done once, and kept in files."""

import keras_seqattn as ks
from benchmarks import sizes
from benchmarks.store import RESULTS

CACHE = RESULTS / "cache"


def pairs():
    """The corpus, from KERAS_SEQATTN_DATA."""
    return ks.data.multi30k()


def subwords():
    """English and German subwords together."""
    folder = CACHE / "subwords"
    if not folder.exists():
        train = pairs().train
        text = ks.text.SentencePiece.learn(
            train.source + train.target, sizes.REFERENCE.vocabulary, kind="bpe"
        )
        CACHE.mkdir(parents=True, exist_ok=True)
        text.save(folder)
    return ks.text.SentencePiece.load(folder)


def encoded():
    """The training set as ids."""
    text = subwords()
    return ks.data.encode(pairs().train, text, text, cache=CACHE / "train.npz")
