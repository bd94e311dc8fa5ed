"""How dates are written: the patterns of CLDR that leave no doubt."""

import datetime
import functools
import re

from keras_seqattn.checks import check_choice
from keras_seqattn.data.tasks.checks import package
from keras_seqattn.errors import four_part_error

# What CLDR calls its patterns: styles, and skeletons, which are lists of fields.
STYLES = ("full", "long", "medium", "short")
SKELETONS = ("yMd", "yMMMd", "yMMMEd")
EVERYWHERE = ("d MMMM y", "d MMM y", "d-MMM-y", "y-MM-dd", "y/MM/dd", "d.M.y")
# CLDR has no ordinals for days; English is full of them. {} is "3rd" or "third".
ORDINALS = {"en": ("{} 'of' MMMM y", "'the' {} 'of' MMMM, y", "MMMM {}, y")}


def is_clear(pattern):
    """Whether nobody can take the day for the month, or guess at the century."""
    fields = re.sub(r"'[^']*'", "", pattern)  # without words in quotes
    if fields.count("y") not in (1, 4):
        return False
    order = re.sub(r"[^yMd]|(.)(?=\1)", "", fields.replace("L", "M"))
    is_word = "MMM" in fields or "LLL" in fields
    is_dotted = order == "dMy" and re.search(r"d\. ?M+\. ?y", fields)
    return bool(is_word or order == "yMd" or is_dotted)


def writers(languages):
    """For each language the functions that write a day, one for each pattern."""
    if isinstance(languages, str) or not languages:
        raise four_part_error(
            "dates got unusable languages",
            "a list of CLDR locales",
            repr(languages),
            'Pass e.g. languages=["de", "pt_BR"]',
        )
    babel, dates = package("dates", "babel"), package("dates", "babel.dates")
    num2words = package("dates", "num2words").num2words
    known = babel.localedata.locale_identifiers()
    for language in languages:
        check_choice("dates", "language", language, known)
    found = [
        [
            functools.partial(dates.format_date, format=pattern, locale=locale)
            for pattern in _patterns(locale)
        ]
        + [
            functools.partial(_with_ordinal, dates, num2words, pattern, form, locale)
            for pattern in ORDINALS.get(locale.language, ())
            for form in ("ordinal_num", "ordinal")
        ]
        for locale in map(babel.Locale.parse, languages)
    ]
    _check_months(languages, found)
    return found


def _patterns(locale):
    skeletons = locale.datetime_skeletons
    found = [locale.date_formats[style] for style in STYLES]
    found += [skeletons[name] for name in SKELETONS if name in skeletons]
    return sorted(filter(is_clear, {*EVERYWHERE, *(x.pattern for x in found)}))


def _with_ordinal(dates, num2words, pattern, form, locale, day):
    ordinal = num2words(day.day, lang=locale.language, to=form)
    return dates.format_date(day, pattern.format(f"'{ordinal}'"), locale)


def _check_months(languages, found):
    """No word names two months: lip is June in Croatian, July in Polish."""
    meant = {}
    for month in range(1, 13):
        day = datetime.date(2000, month, 25)
        texts = (write(day).lower() for ways in found for write in ways)
        for text in dict.fromkeys(texts):
            if text in meant:
                raise four_part_error(
                    "dates got languages with one word for two months",
                    "strings that mean one day",
                    f"languages={list(languages)} with {text!r} for {meant[text]} and "
                    f"{day}",
                    "Give each of these languages a task of its own",
                )
            meant[text] = day
