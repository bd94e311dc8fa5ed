"""Rows that are no pairs are left out, counted, and shown with their lines."""

import pytest

from keras_seqattn import data
from keras_seqattn.data.header import is_header

GOOD = [f"a {i}\tb {i}" for i in range(200)]
MISTAKES = {  # by line
    **{1: b"\xef\xbb\xbfsource\ttarget", 5: b"fixed", 7: b"caf\xe9\tcoffee"},
    **{9: b"a\tb\tc", 13: b"a \t ", 17: b"\tb", 22: b"", 23: b"\t "},
    **{27: b'"open\tquote', 29: b"a\tb\t\t", 31: b"another"},
}
REPORT = """\
202 of 211 pairs kept
      1 header               line 1: source | target
      2 no tab               line 5: fixed
                             line 31: another
      1 not UTF-8            line 7: caf\ufffd | coffee
      1 more than 2 columns  line 9: a | b | c
      1 empty target         line 13: a  |
      1 empty source         line 17: | b
      2 empty row            line 22
                             line 23"""


@pytest.fixture
def messy(tmp_path):
    rows = [row.encode() for row in GOOD]
    for number, row in MISTAKES.items():
        rows.insert(number - 1, row)
    path = tmp_path / "messy.tsv"
    path.write_bytes(b"\r\n".join(rows))
    return path


def test_mistakes_are_left_out_with_a_warning(messy):
    with pytest.warns(UserWarning) as found:
        pairs = data.read_pairs(messy)
    assert str(pairs.report) == REPORT
    assert pairs.report.rows == [0, 4, 6, 8, 12, 16, 21, 22, 30]
    assert list(pairs[-2:]) == [("a 198", "b 198"), ("a 199", "b 199")]
    assert {('"open', "quote"), ("a", "b")} <= {*pairs}
    assert str(found[0].message).startswith(
        "read_pairs has left out rows with mistakes. Expected rows that are pairs, "
        f"received 6 of 208 rows in '{messy}': no tab: 2 (lines 5, 31); not UTF-8: 1 "
        "(line 7); more than 2 columns: 1 (line 9); empty target: 1 (line 13)"
    )
    pairs = data.read_pairs(messy, columns=(0, 1), row_errors="skip-all")
    assert ("a", "b") in pairs and "more than 2 columns" not in pairs.report.dropped


def test_an_open_quote_loses_one_line(tmp_path):
    """The quote is closed by the next one, by the end of the file, or never."""
    rows = [f"a {i},b {i}" for i in range(300)]
    for line in (10, 20, 290):
        rows[line] = f'"{rows[line]}'
    path = tmp_path / "quotes.csv"
    path.write_text("\n".join(rows))
    pairs = data.read_pairs(path, row_errors="skip-all")
    assert len(pairs) == 297
    shown = ['line 11: "a 10,b 10', 'line 21: "a 20,b 20', 'line 291: "a 290,b 290']
    assert pairs.report.examples == {"malformed quotes": shown}


TEXTS = {"excel.csv": 'I, too;"ja; ja"\nno;nein\n', "x.txt": "I, too\tja; ja\nno\tnein"}


@pytest.mark.parametrize(("name", "text"), TEXTS.items())
def test_the_text_shows_the_format(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    expected = data.Pairs(["I, too", "no"], ["ja; ja", "nein"])
    assert data.read_pairs(tmp_path / name) == expected


def test_of_two_files_the_one_with_the_mistake_is_named(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("English sentence\n\na\nb\n")
    target.write_text("French\n\nc\n\n")
    with pytest.raises(ValueError, match=f"an empty target in line 4 of '{target}'"):
        data.read_pairs(source, target, row_errors="fatal")
    pairs = data.read_pairs(source, target, row_errors="skip-all")
    assert pairs == data.Pairs(["a"], ["c"])
    dropped = {"header": 1, "empty row": 1, "empty target": 1}
    assert pairs.report.dropped == dropped


HEADERS = ["source|target", '# TRG|"src"', "English|german", "en|it", "de|fr-CH"]
HEADERS += ["source_text|target text", "Question|answer"]
TEXTS = ["it|es", "English|anglais", "text|text", "I speak English|German", "|"]
TEXTS += ["source|la source", "I am|no", "it is|en"]


@pytest.mark.parametrize("row", [*HEADERS, *TEXTS])
def test_header(row):
    assert is_header(*row.split("|")) == (row in HEADERS)
