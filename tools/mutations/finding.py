"""Find a fault by the text of its line, after the code has moved."""

from typing import NamedTuple

from tools.mutations.sources import lines_of, plain


class Place(NamedTuple):
    """The present place of a fault.

    path: of the file, from the root.
    number: of the line.
    line: what it becomes.
    function: qualified name.
    """

    path: str
    number: int
    line: str
    function: str


class NotFound(ValueError):
    """The line of a fault has no place, or several."""


def find(record, texts):
    """Return the place of a fault in the present library.

    Args:
        record: of `tools/mutations.json`. `now`, which a person can add, is a
            dict of `path`, `line` and `mutated`. `holds`, a part of the statement, or
            `nth` chooses among equal lines of the file.
        texts: `{path: text}` of the library.

    Returns:
        `Place`. Raises `NotFound` where there is none or more than one.
    """
    now = record.get("now")
    if now:
        return found_by_hand(record["id"], now, texts)
    wanted, name = plain(record["line"]), record["function"].rpartition(".")[2]
    lines = matching(wanted, "", texts)
    home = [line for line in lines if line.path == record["path"]]
    for some in (
        [line for line in home if line.function == record["function"]],
        [line for line in lines if line.function == record["function"]],
        [line for line in lines if line.function.rpartition(".")[2] == name],
        lines,
    ):
        line = the_one(record, some)
        if line:
            return placed(line, record["mutated"])
    raise NotFound(
        f"{record['id']} is not found: expected one line {wanted!r} as in "
        f"{record['path']}, {record['function'] or 'outside of functions'}, received "
        f"{len(lines)} that fit as well. Point it to the new place: give it "
        '"now": {"path": ..., "line": ..., "mutated": ...} in tools/mutations.json.'
    )


def the_one(record, lines):
    """Return the line of a fault; None if it is not clear which."""
    same = [line for line in lines if line.statement == record["statement"]]
    if len(same) == 1:
        return same[0]
    if len({(line.path, line.function) for line in lines}) != 1:
        return None
    # `raise ValueError(` may be any of several: as many as before, in the same order.
    if len(lines) == record["of"]:
        same_place = lines[0].function == record["function"]
        is_whole = plain(record["line"]) == record["statement"]
        return lines[record["nth"] - 1] if same_place or is_whole else None
    return None


def found_by_hand(name, now, texts):
    """Return the place that a person wrote into the record.

    If the file no longer has the line, other files are searched.
    """
    wanted, part, nth = plain(now["line"]), now.get("holds", ""), now.get("nth")
    lines = matching(wanted, part, {now["path"]: texts.get(now["path"], "")})
    if not lines and nth is None:
        lines = matching(wanted, part, texts)
    if nth is None and len(lines) != 1 or nth is not None and len(lines) < nth:
        raise NotFound(
            f'{name} is not found where its "now" points to: expected one line '
            f"{wanted!r} in {now['path']}, received {len(lines)}. Correct "
            '"now" in tools/mutations.json; "holds" or "nth" chooses of several.'
        )
    return placed(lines[(nth or 1) - 1], now["mutated"])


def matching(wanted, part, texts):
    """Return the lines with this text whose statements hold `part`."""
    return [
        line
        for path, text in texts.items()
        if wanted in " ".join(text.split())
        for line in lines_of(path, text)
        if plain(line.text) == wanted and part in line.statement
    ]


def placed(line, mutated):
    """Return the changed line with the indentation of the old one."""
    indentation = line.text[: len(line.text) - len(line.text.lstrip())]
    return Place(line.path, line.number, indentation + mutated.strip(), line.function)
