"""The task `numbers`: numbers from one language to another."""

import functools
import random

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.data.pairs import Pairs
from keras_seqattn.data.tasks.checks import check_splits, package
from keras_seqattn.data.tasks.task_data import Task
from keras_seqattn.errors import four_part_error

DIGITS = "digits"
LEARNED = 100  # all numbers are made of the words of 0 to 99


def numbers(
    source="de",
    target="en",
    below=10_000,
    train=8_000,
    validation=500,
    test=500,
    seed=0,
):
    """Numbers, from one language to another: zweihundertdrei, two hundred and three.

    The words come from the package `num2words`. Each pair has a different number: so
    no held-out number is in `train`. Numbers below 100, of which the others are made,
    are always in `train`.

    Args:
        source: a language of num2words, or "digits".
        target: a language of num2words, or "digits".
        below: the numbers are 0, ..., `below - 1`.
        train: number of pairs.
        validation: number of pairs.
        test: number of pairs. The held-out numbers do not depend on `train`.
        seed: decides which numbers are held out.

    Returns:
        `Task`, characters to characters, because German writes a number as one word.

    Example:
        >>> task = numbers("fr", "digits", train=800, validation=10, test=10)
        >>> task.train[80]
        ('quatre-vingts', '80')
    """
    check_count("numbers", "seed", seed, 0)
    check_count("numbers", "below", below, LEARNED + 1)
    counts = {"train": train, "validation": validation, "test": test}
    remedy = "Lower these numbers, or raise below"
    items = f"numbers from {LEARNED} up"
    check_splits("numbers", below - LEARNED, items, remedy, **counts)
    writers = _writer("source", source), _writer("target", target)
    splits = {
        split: Pairs(*(list(map(write, chosen)) for write in writers))
        for split, chosen in _draw(below, seed, **counts).items()
    }
    _check_different(source, splits)
    what = f"numbers below {below}: {writers[0](203)} to {writers[1](203)}"
    return Task("numbers", what, **splits)


def _draw(below, seed, train, validation, test):
    """Return disjoint `{"train": [...], "validation": [...], "test": [...]}`."""
    draw, others = random.Random(seed), range(LEARNED, below)
    held_out = draw.sample(others, validation + test)
    learned = draw.sample(others, train + validation + test)
    learned = sorted(set(learned) - set(held_out))
    draw.shuffle(learned)
    return {
        "train": [*range(LEARNED), *learned][:train],
        "validation": held_out[test:],
        "test": held_out[:test],
    }


def _writer(side, language):
    """Return the function that writes a number in a language."""
    if language == DIGITS:
        return str
    num2words = package("numbers", "num2words")
    known = [*num2words.CONVERTER_CLASSES, DIGITS]
    check_choice("numbers", f"{side} language", language, known)
    return functools.partial(num2words.num2words, lang=language)


def _check_different(source, splits):
    """Check that all sources differ: num2words may lack words for large numbers."""
    texts = [text for pairs in splits.values() for text in pairs.source]
    if len(set(texts)) < len(texts):
        twin = next(text for text in texts if texts.count(text) > 1)
        raise four_part_error(
            "numbers got a source language that writes two numbers the same way",
            "a different string for each number",
            f"source={source!r} with {twin!r}",
            "Lower below, or use another language",
        )
