"""The table of zoo/README.md says what `python -m zoo.parameters` prints."""

import re
from pathlib import Path

import zoo
from tests.zoo.rows import NAMES
from zoo import parameters

README = Path(zoo.__file__).with_name("README.md")


def table():
    """`{function: {preset: count}}`."""
    rows = {}
    for line in README.read_text("utf-8").splitlines():
        match = re.match(r"\|[^|]*\| `(\w+)` \|([^|]*)\|[^|]*\|([^|]*)\|", line)
        if match:
            name, sizes, small = match.groups()
            pairs = re.findall(r'`"(\w+)"`: ([\d,]+)', sizes)
            rows[name] = dict([*pairs, ("small", small.strip())])
    return rows


def printed(capsys):
    rows = {}
    parameters.main()
    for line in capsys.readouterr().out.splitlines():
        name, preset, count = line.split()
        rows.setdefault(name, {})[preset] = count
    return rows


def test_the_table_is_what_is_printed(capsys):
    assert table() == printed(capsys)
    assert sorted(table()) == sorted(NAMES)
