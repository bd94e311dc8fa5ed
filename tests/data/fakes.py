"""Text processors and encoded pairs for the tests: small, and easy to read back."""

import numpy as np
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn import data

TOKENS = ks.types.SpecialTokens()


class Letters:
    """a is 4, b is 5, ...; counts how many sentences it has encoded."""

    def __init__(self, shift=0, tokens=TOKENS):
        self.shift, self.tokens = shift, tokens
        self.encoded, self.draws = 0, 0

    def encode(self, texts, sample=False):
        self.encoded += int(texts.shape[0])
        self.draws += sample
        ids = tf.strings.unicode_decode(texts, "UTF-8") - ord("a") + 4 + self.shift
        if sample:  # another length every time
            ids = tf.concat([ids, tf.fill([texts.shape[0], self.draws], 4)], axis=1)
        return ids


def encoded_pairs(lengths):
    """Pair n has the lengths `[source, target]`, and all its ids are n + 4."""
    sides = zip(*lengths, strict=True)
    sides = ([[n + 4] * length for n, length in enumerate(side)] for side in sides)
    return data.EncodedPairs.of(*sides)


def captions(count=29_000, seed=0):
    """Lengths like those of Multi30k en-de with 8 000 subwords, without content."""
    random = np.random.default_rng(seed)
    common, own = random.standard_normal((2, 2, count))
    latent = common[0], 0.86 * common[0] + np.sqrt(1 - 0.86**2) * own[0]
    source = np.maximum(np.round(np.exp(2.592 + 0.325 * latent[0])), 1)
    target = np.maximum(np.round(np.exp(2.607 + 0.353 * latent[1])), 1)
    sides = []
    for lengths in (source, target):
        splits = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        sides.append(data.Ids(np.full(splits[-1], 5, np.int32), splits))
    return data.EncodedPairs(*sides)
