"""Translation Memory eXchange: XML, read piece by piece."""

import re
from xml.etree import ElementTree

from keras_seqattn.data.text_files import open_text
from keras_seqattn.errors import four_part_error

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_INDENTATION = re.compile(r"[ \t\r]*\n[ \t\r\n]*")


def rows(path, languages):
    """Yields (unit number, source, target); a text is None where it is missing."""
    number, found = 0, set()
    wanted = [code.lower() for code in languages]
    with open_text(path) as file:
        try:
            for unit in _units(file):
                number += 1
                texts = _texts(unit)
                found.update(texts)
                yield number, *(_choose(texts, code) for code in wanted)
        except ElementTree.ParseError as error:
            raise four_part_error(
                "read_pairs got malformed XML",
                "a TMX file",
                f"the error {str(error)!r} in {path!r} after {number} translation "
                "units",
                "Correct the file, or export it again",
            ) from error
    if not all(any(_matches(code, language) for code in found) for language in wanted):
        raise four_part_error(
            "read_pairs got languages that do not exist",
            f"codes that are in {path!r}, {sorted(found)}",
            f"{list(languages)}",
            "Check the spelling: 'en' stands for 'en-US', too",
        )


def _units(file):
    """Each `tu`; what has been read is let go."""
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
    """`{language code in lower case: text}`; of two in one language the first."""
    texts = {}
    for variant in (element for element in unit if _name(element) == "tuv"):
        code = variant.get(_LANGUAGE) or variant.get("lang") or ""
        for segment in (element for element in variant if _name(element) == "seg"):
            text = _INDENTATION.sub(" ", _text(segment)).strip(" \t\r")
            texts.setdefault(code.lower(), text)
    return texts


def _text(element):
    """Without the codes of the format the text came from; `hi` only marks a part."""
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
