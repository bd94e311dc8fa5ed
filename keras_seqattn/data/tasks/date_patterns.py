"""The patterns of CLDR that write a date without ambiguity."""

import datetime
import functools
import re

from keras_seqattn.checks import check_choice
from keras_seqattn.data.tasks.checks import package
from keras_seqattn.errors import abbreviated, four_part_error

# CLDR's names of patterns: styles, and skeletons, which are lists of fields.
STYLES = ("full", "long", "medium", "short")
SKELETONS = ("yMd", "yMMMd", "yMMMEd")
EVERYWHERE = ("d MMMM y", "d MMM y", "d-MMM-y", "y-MM-dd", "y/MM/dd", "d.M.y")
# CLDR has no ordinals for days, which are common in English. {} is "3rd" or "third".
ORDINALS = {"en": ("{} 'of' MMMM y", "'the' {} 'of' MMMM, y", "MMMM {}, y")}


def is_clear(pattern):
    """Whether a pattern is clear about day and month, and has the full year."""
    fields = re.sub(r"'[^']*'", "", pattern)  # without words in quotes
    if fields.count("y") not in (1, 4):
        return False
    order = re.sub(r"[^yMd]|(.)(?=\1)", "", fields.replace("L", "M"))
    is_word = "MMM" in fields or "LLL" in fields
    is_dotted = order == "dMy" and re.search(r"d\. ?M+\. ?y", fields)
    return bool(is_word or order == "yMd" or is_dotted)


def writers(languages):
    """Return, for each language, one function for each pattern that writes a day."""
    if isinstance(languages, str) or not languages:
        raise four_part_error(
            "dates got unusable languages",
            "a list of CLDR locales",
            abbreviated(languages),
            'Pass e.g. languages=["de", "pt_BR"]',
        )
    babel, dates = package("dates", "babel"), package("dates", "babel.dates")
    num2words = package("dates", "num2words").num2words
    known = babel.localedata.locale_identifiers()
    for language in languages:
        check_choice("dates", "language", language, known)
    by_language = [
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
    _check_months(languages, by_language)
    return by_language


def _patterns(locale):
    skeletons = locale.datetime_skeletons
    formats = [locale.date_formats[style] for style in STYLES]
    formats += [skeletons[name] for name in SKELETONS if name in skeletons]
    return sorted(filter(is_clear, {*EVERYWHERE, *(x.pattern for x in formats)}))


def _with_ordinal(dates, num2words, pattern, form, locale, day):
    ordinal = num2words(day.day, lang=locale.language, to=form)
    return dates.format_date(day, pattern.format(f"'{ordinal}'"), locale)


def _check_months(languages, by_language):
    """Check that no word names two months: lip is June in Croatian, July in Polish."""
    day_of = {}
    for month in range(1, 13):
        day = datetime.date(2000, month, 25)
        texts = (write(day).lower() for writers in by_language for write in writers)
        for text in dict.fromkeys(texts):
            if text in day_of:
                raise four_part_error(
                    "dates got languages with one word for two months",
                    "strings that mean one day",
                    f"languages={list(languages)} with {text!r} for {day_of[text]} and "
                    f"{day}",
                    "Make a task for each of these languages",
                )
            day_of[text] = day
