"""Rows of a TMX file (Translation Memory eXchange), which is XML, read in parts."""

import re
from xml.etree import ElementTree

from keras_seqattn.data.row import BadRow, Row
from keras_seqattn.data.text_files import open_text
from keras_seqattn.errors import four_part_error

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_INDENTATION = re.compile(r"[ \t\r]*\n[ \t\r\n]*")


def rows(path, languages):
    """Yield `Row`s, and `BadRow`s for units without one of the languages."""
    number, codes = 0, set()
    wanted = [code.lower() for code in languages]
    with open_text(path) as file:
        try:
            for unit in _units(file):
                number += 1
                texts = _texts(unit)
                codes.update(texts)
                yield _row(number, [_choose(texts, code) for code in wanted])
        except ElementTree.ParseError as error:
            raise four_part_error(
                "read_pairs got malformed XML",
                "a TMX file",
                f"the error {str(error)!r} in {path!r} after {number} translation "
                "units",
                "Correct the file, or export it again",
            ) from error
    if not all(any(_matches(code, language) for code in codes) for language in wanted):
        raise four_part_error(
            "read_pairs got languages that do not exist",
            f"codes that are in {path!r}, {sorted(codes)}",
            f"{list(languages)}",
            "Check the spelling: 'en' stands for 'en-US', too",
        )


def _row(number, pair):
    if None not in pair:
        return Row(number, *pair)
    text = " ".join(filter(None, pair))
    return BadRow(number, "language missing", text, is_mistake=False)


def _units(file):
    """Yield each `tu` element, and free the memory of those before."""
    parents = []
    for event, element in ElementTree.iterparse(file, events=("start", "end")):
        if event == "start":
            parents.append(element)
            continue
        parents.pop()
        if _name(element) == "tu":
            yield element
            for parent in parents[-1:]:
                parent.clear()


def _texts(unit):
    """Return `{language code in lower case: text}`; the first text of a language."""
    texts = {}
    for variant in (element for element in unit if _name(element) == "tuv"):
        code = variant.get(_LANGUAGE) or variant.get("lang") or ""
        for segment in (element for element in variant if _name(element) == "seg"):
            text = _INDENTATION.sub(" ", _text(segment)).strip(" \t\r")
            texts.setdefault(code.lower(), text)
    return texts


def _text(element):
    """Return the text of an element without inline codes; `hi` only marks a part."""
    inside = (
        (_text(child) if _name(child) == "hi" else "") + (child.tail or "")
        for child in element
    )
    return (element.text or "") + "".join(inside)


def _name(element):
    return element.tag.rpartition("}")[2]  # some files are in a namespace


def _choose(texts, wanted):
    if wanted in texts:
        return texts[wanted]
    return next((texts[code] for code in texts if _matches(code, wanted)), None)


def _matches(code, wanted):
    return code == wanted or code.startswith(wanted + "-")
