"""The task `dates`: dates, written in many ways and languages, to ISO."""

import datetime
import random

from keras_seqattn.checks import check_count
from keras_seqattn.data.pairs import Pairs
from keras_seqattn.data.tasks.checks import check_range, check_splits
from keras_seqattn.data.tasks.date_patterns import writers
from keras_seqattn.data.tasks.splits import split_items
from keras_seqattn.data.tasks.task_data import Task

LANGUAGES = tuple("da de en en_GB es fi fr it nl pl pt sv".split())
LOWER_CASED = 1 / 3  # share of the dates in lower case


def dates(
    languages=LANGUAGES,
    years=(1600, 2199),
    train=30_000,
    validation=1_000,
    test=1_000,
    seed=0,
):
    """Dates, written in many ways and languages, to ISO.

    Patterns and words come from CLDR, through Babel; a third of the dates is in lower
    case. Each pair has a different calendar day: so no held-out day is in `train`, in
    any spelling.

    No string means two days. The year has four digits. The month is a word, or the
    order is year, month, day, or it is day, month, year with dots between them.
    01/02/2003 is never written, because readers disagree about its month.

    Args:
        languages: names of CLDR locales, equally frequent.
        years: the first and the last year, both included.
        train: number of pairs.
        validation: number of pairs.
        test: number of pairs. The held-out days do not depend on `train`.
        seed: decides which days are held out, and how each day is written.

    Returns:
        `Task`, characters to characters.

    Example:
        >>> task = dates(languages=["en"], train=100, validation=10, test=10)
        >>> len(task.train), len(task.test.target[0])
        (100, 10)

    References:
        Unicode Technical Standard 35, Part 4: Dates.
    """
    check_range("dates", "years", years, 1000, 9999)
    check_count("dates", "seed", seed, 0)
    days = _days(*years)
    counts = {"train": train, "validation": validation, "test": test}
    remedy = "Lower these numbers, or pass more years"
    check_splits("dates", len(days), "days", remedy, **counts)
    ways = writers(languages)
    draw = random.Random(seed)
    draw.shuffle(days)
    splits = {
        split: _pairs(chosen, ways, draw)
        for split, chosen in split_items(days, **counts).items()
    }
    what = f"dates ({', '.join(languages)}) to ISO: 1 May 2003 to 2003-05-01"
    return Task("dates", what, **splits)


def _days(first, last):
    first, last = datetime.date(first, 1, 1), datetime.date(last, 12, 31)
    return list(range(first.toordinal(), last.toordinal() + 1))


def _pairs(days, ways, draw):
    days = list(map(datetime.date.fromordinal, days))
    source = [draw.choice(draw.choice(ways))(day) for day in days]
    source = [text.lower() if draw.random() < LOWER_CASED else text for text in source]
    return Pairs(source, [day.isoformat() for day in days])
