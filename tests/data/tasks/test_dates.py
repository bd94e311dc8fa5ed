"""The task dates: its strings, each of which means a single day."""

import datetime
import itertools
import random
import re

import pytest

from keras_seqattn.data.tasks import dates
from keras_seqattn.data.tasks.date_patterns import is_clear, writers
from keras_seqattn.data.tasks.dates_task import LANGUAGES


@pytest.fixture(scope="module")
def task():
    return dates()


def test_size(task):
    assert tuple(map(len, (task.train, task.validation, task.test))) == (
        30_000,
        1_000,
        1_000,
    )
    assert max(map(len, task.train.source)) <= 40


def test_days_are_disjoint(task):
    days = task.train.target + task.validation.target + task.test.target
    assert len(set(days)) == len(days) == 32_000
    assert all(datetime.date.fromisoformat(day).isoformat() == day for day in days)
    assert (min(days)[:4], max(days)[:4]) == ("1600", "2199")


def test_same_days_for_ever(task):
    assert task.test.target[:3] == ["2012-07-17", "2095-01-13", "2177-06-09"]


def test_held_out_characters_are_known(task):
    known = set("".join(task.train.source))
    assert set("".join(task.validation.source + task.test.source)) <= known


def test_months_are_words_or_in_a_known_order(task):
    for text in task.train.source:
        assert re.search(r"[^\W\d]{3}", text) or re.fullmatch(
            r"\d{4}[-/]\d\d[-/]\d\d|\d{1,2}\.\d{1,2}\.\d{4}|[a-z]{2} [\d.]+", text, re.I
        ), text


def meanings(ways):
    """`{string: day}` of one leap year; a string that means two days is an error."""
    days, meant = (
        [datetime.date(2096, 1, 1) + datetime.timedelta(i) for i in range(366)],
        {},
    )
    for write, day in itertools.product(ways, days):
        for text in (write(day), write(day).lower()):
            assert meant.setdefault(text, day) == day, (text, day, meant[text])
    return meant


def test_no_string_means_two_days():
    """The year is in four digits, so that a leap year stands for all."""
    meant = meanings(itertools.chain.from_iterable(writers(LANGUAGES)))
    assert all("2096" in text for text in meant)


@pytest.mark.slow
def test_no_string_of_any_locale_means_two_days():
    from babel.localedata import locale_identifiers

    for language in random.Random(0).sample(locale_identifiers(), 100):
        meanings(*writers([language]))


@pytest.mark.slow
def test_every_locale_can_be_written():
    from babel.localedata import locale_identifiers

    assert all(
        len(ways) >= 6 for name in locale_identifiers() for ways in writers([name])
    )


@pytest.mark.parametrize(
    "pattern, clear",
    {
        "EEEE, MMMM d, y": True,
        "d 'de' MMM 'de' y": True,
        "cccc d. LLLL y": True,
        "MMM d, yyyy": True,
        "y-MM-dd": True,
        "y. MM. dd.": True,
        "y/M/d": True,
        "dd.MM.y": True,
        "d. M. y": True,
        "E d.M.y": True,
        "M/d/y": False,  # America
        "dd/MM/y": False,  # the rest
        "d-M-y": False,
        "M.d.y": False,  # a locale of Cameroon
        "y-dd-MM": False,  # Kyrgyz
        "MMM d, yy": False,  # of which century?
        "dd.MM.yy": False,
        "d 'MMM' M/y": False,
        "d MMM": False,
    }.items(),
)
def test_is_clear(pattern, clear):
    assert is_clear(pattern) is clear


def test_languages_are_equally_frequent():
    task = dates(["ja", "de"], years=(2000, 2020), train=5_000)
    japanese = [
        "月" in write(datetime.date(2000, 1, 1)) for write in writers(["ja"])[0]
    ]
    expected = 5_000 / 2 * sum(japanese) / len(japanese)
    assert abs(sum("月" in text for text in task.train.source) - expected) < 150
