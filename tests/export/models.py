"""Translators of the zoo's small models, untrained, which say different things."""

import numpy as np

import keras_seqattn as ks
from keras_seqattn import zoo
from tests.zoo.rows import NAMES

LETTERS = "abcdéfgh"
BEAM = ks.BeamSearch(3, length_penalty=0.6, n_best=2, min_length=3)
GREEDY = ks.Greedy(min_length=3)


def sentences(count, seed=1):
    """Words of random letters, one to four in a sentence; all are different."""
    random, found = np.random.default_rng(seed), {}
    while len(found) < count:
        sizes = random.integers(1, 5, random.integers(1, 5))
        words = ("".join(random.choice(list(LETTERS), size)) for size in sizes)
        found[" ".join(words)] = None
    return list(found)


def translator(name, search=BEAM, max_length=7):
    """With characters or subwords: every other one has these."""
    if NAMES.index(name) % 2:
        texts, options = sentences(200), {"normalization": "nfkc", "lowercase": True}
        source = target = ks.text.SentencePiece.learn(texts, 30, **options)
    else:
        source, target = map(ks.text.Characters.learn, (sentences(50), [LETTERS]))
    made = model(name, source, target)
    return ks.Translator(made, source, target, search, max_length)


def model(name, source, target, **options):
    """With weights large enough to write more than one word again and again."""
    names, texts = ("source_vocabulary", "target_vocabulary"), (source, target)
    sizes = {n: x.vocabulary_size for n, x in zip(names, texts, strict=True)}
    made = getattr(zoo, name)("small", **sizes, **options)
    random = np.random.default_rng(11)
    for weight in made.trainable_weights:
        noise = random.normal(size=weight.shape)
        weight.assign_add(0.2 * noise if len(weight.shape) > 1 else 0.1 * noise)
    return made
