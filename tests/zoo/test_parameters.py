"""The table of zoo/README.md has the numbers that `python -m zoo.parameters` prints."""

import re
from pathlib import Path

from keras_seqattn import zoo
from keras_seqattn.zoo import parameters
from tests.zoo.rows import NAMES

README = Path(zoo.__file__).with_name("README.md")


def table():
    """`{function: (numbers at paper size, number of "small")}`."""
    rows = {}
    models = README.read_text("utf-8").split("## Models")[1].split("\n## ")[0]
    for line in models.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = re.fullmatch(r"`(\w+)`", cells[1]) if len(cells) > 5 else None
        if name:
            rows[name[1]] = set(re.findall(r"\d[\d,]{3,}\d", cells[3])), cells[5]
    return rows


def printed(capsys):
    """The same, of what the command prints."""
    counts = {}
    parameters.main()
    for line in capsys.readouterr().out.splitlines():
        name, preset, count = line.split()
        counts.setdefault(name, {})[preset] = count
    return {
        name: (set(sizes.values()) - {sizes["small"]}, sizes["small"])
        for name, sizes in counts.items()
    }


def test_the_table_is_what_is_printed(capsys):
    assert table() == printed(capsys)
    assert sorted(table()) == sorted(NAMES)
