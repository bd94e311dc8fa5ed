"""Multi30k in subwords, which are learned once and cached in files."""

import keras_seqattn as ks
from benchmarks import sizes
from benchmarks.store import RESULTS

CACHE = RESULTS / "cache"


def pairs():
    """Return the corpus, from the folder KERAS_SEQATTN_DATA."""
    return ks.data.multi30k()


def subwords():
    """Return the joint subwords of English and German."""
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
    """Return the training set as ids."""
    text = subwords()
    return ks.data.encode(pairs().train, text, text, cache=CACHE / "train.npz")
