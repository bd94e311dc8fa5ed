"""Whether the first row of a file has the names of its columns, not two texts."""

import re

# One name on each side: the first column has a name of one set, the second of another.
_SOURCES = {"source", "src", "input", "original", "sentence", "text", "question"}
_TARGETS = {"target", "tgt", "trg", "output", "translation", "answer", "reference"}
_LANGUAGES = set(
    "afrikaans albanian arabic armenian basque bengali bulgarian catalan chinese "
    "croatian czech danish dutch english estonian finnish french georgian german greek "
    "hebrew hindi hungarian icelandic indonesian irish italian japanese korean latin "
    "latvian lithuanian malay marathi norwegian persian polish portuguese romanian "
    "russian serbian slovak slovenian spanish swahili swedish tamil thai turkish "
    "ukrainian urdu vietnamese welsh".split()
)
_CODES = set(
    "af ar bg bn ca cs cy da de el en es et eu fa fi fr ga hi hr hu hy id ja ka ko lt "
    "lv ms nl pl pt ro ru sk sl sq sr sv sw ta th tr uk ur vi zh".split()
)
# These are English words, too: "is" and "es" could be a word and its translation.
_WORDS = {"is", "it", "he", "no", "am", "my", "so", "la"}
# What may follow a name: "source_text", "English sentence".
_KINDS = {"text", "sentence", "language", "lang", "side", "string", "phrase"}


def is_header(first, second):
    """Whether two cells are names of columns.

    The rule is narrow, because a header that is learned does little harm, and a pair
    that is left out should be none: both cells must be names, in any case, and
    different from each other: `source` and `target` (or `src` and `trg`, `input` and
    `output`, ...), two English names of languages, or two codes of languages.

    Example:
        >>> is_header("source", "target"), is_header("English sentence", "French")
        (True, True)
        >>> is_header("en", "de"), is_header("en-US", "pt_BR")
        (True, True)
        >>> is_header("is", "es"), is_header("English", "Anglais")
        (False, False)
    """
    if max(len(first), len(second)) > 40:
        return False
    first, second = _name(first), _name(second)
    if first == second:
        return False
    names = {first, second}
    is_roles = any(
        one in _SOURCES and other in _TARGETS
        for one, other in ((first, second), (second, first))
    )
    is_codes = names <= _CODES or ("en" in names and names <= _CODES | _WORDS)
    return is_roles or names <= _LANGUAGES or is_codes


def _name(cell):
    """Return the name in a cell: without quotes, case, region and kind."""
    cell = cell.strip().strip("#\"' ").lower()
    region = re.fullmatch("([a-z]{2})[-_][a-z]{2,4}", cell)
    if region:
        return region[1]
    name, *kinds = re.split("[ _-]+", cell)
    return name if {*kinds} <= _KINDS else cell
