"""The task dates: its strings, each of which means a single day."""

import datetime
import itertools
import random
import re

import pytest
from babel.localedata import locale_identifiers

from keras_seqattn.data.tasks import dates
from keras_seqattn.data.tasks.date_patterns import is_clear, writers
from keras_seqattn.data.tasks.dates_task import LANGUAGES


@pytest.fixture(scope="module")
def task():
    return dates()


def test_sizes_days_and_characters(task):
    sizes = [len(pairs) for pairs in (task.train, task.validation, task.test)]
    assert sizes == [30_000, 1_000, 1_000]
    assert max(map(len, task.train.source)) <= 40
    days = task.train.target + task.validation.target + task.test.target
    assert len(set(days)) == len(days) == 32_000
    assert all(datetime.date.fromisoformat(day).isoformat() == day for day in days)
    assert (min(days)[:4], max(days)[:4]) == ("1600", "2199")
    assert task.test.target[:3] == ["2012-07-17", "2095-01-13", "2177-06-09"]
    known = set("".join(task.train.source))
    assert set("".join(task.validation.source + task.test.source)) <= known
    for text in task.train.source:
        assert re.search(r"[^\W\d]{3}", text) or re.fullmatch(
            r"\d{4}[-/]\d\d[-/]\d\d|\d{1,2}\.\d{1,2}\.\d{4}|[a-z]{2} [\d.]+", text, re.I
        ), text


def meanings(ways):
    """`{string: day}` of one leap year; a string that means two days is an error."""
    first, meant = datetime.date(2096, 1, 1), {}
    days = [first + datetime.timedelta(i) for i in range(366)]
    for write, day in itertools.product(ways, days):
        for text in (write(day), write(day).lower()):
            assert meant.setdefault(text, day) == day, (text, day, meant[text])
    return meant


def test_no_string_means_two_days():
    """The year is in four digits, so that a leap year stands for all."""
    meant = meanings(itertools.chain.from_iterable(writers(LANGUAGES)))
    assert all("2096" in text for text in meant)


@pytest.mark.slow
def test_every_locale_can_be_written_and_no_string_means_two_days():
    for language in random.Random(0).sample(locale_identifiers(), 100):
        meanings(*writers([language]))
    ways = [ways for name in locale_identifiers() for ways in writers([name])]
    assert min(map(len, ways)) >= 6


CLEAR = ["EEEE, MMMM d, y", "d 'de' MMM 'de' y", "cccc d. LLLL y", "MMM d, yyyy"]
CLEAR += ["y-MM-dd", "y. MM. dd.", "y/M/d", "dd.MM.y", "d. M. y", "E d.M.y"]
UNCLEAR = ["M/d/y", "dd/MM/y", "d-M-y"]  # America, and the rest
UNCLEAR += ["M.d.y", "y-dd-MM"]  # a locale of Cameroon, Kyrgyz
UNCLEAR += ["MMM d, yy", "dd.MM.yy"]  # of which century?
UNCLEAR += ["d 'MMM' M/y", "d MMM"]


@pytest.mark.parametrize("pattern", [*CLEAR, *UNCLEAR])
def test_is_clear(pattern):
    assert is_clear(pattern) is (pattern in CLEAR)


def test_languages_are_equally_frequent():
    task = dates(["ja", "de"], years=(2000, 2020), train=5_000)
    day = datetime.date(2000, 1, 1)
    japanese = ["月" in write(day) for write in writers(["ja"])[0]]
    expected = 5_000 / 2 * sum(japanese) / len(japanese)
    assert abs(sum("月" in text for text in task.train.source) - expected) < 150
