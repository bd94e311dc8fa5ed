"""Every format gives the same pairs, plain or compressed, whatever ends its lines."""

import gzip
import json
import tracemalloc

import pytest

from keras_seqattn import data

# Separators of Unicode, a no-break space, quotes, commas, characters beyond 16 bits.
SOURCE = 'ein Hund|zwei\u2028Hunde\x85|drei "Hunde", ja|-|\u00a0vier 🐕\x0b'.split("|")
TARGET = ["a dog", "two\u2029dogs", "three 'dogs'\x0c, yes", "none", "four\x1cdogs "]


def lines_of(strings, end):
    return "".join(string + end for string in strings)


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


PAIRS = list(zip(SOURCE, TARGET, strict=True))
TSV = ["\t".join(pair) for pair in PAIRS]
CSV = [f"{quoted(s)},{quoted(t)}" for s, t in PAIRS]
JSON = [json.dumps({"source": s, "target": t, "n": 1}) for s, t in PAIRS]


def write(path, text, compress=False, start=b""):
    content = start + (text if isinstance(text, bytes) else text.encode())
    path.write_bytes(gzip.compress(content) if compress else content)
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_two_files(tmp_path, end, compress, start):
    source = write(tmp_path / "source", lines_of(SOURCE, end), compress, start)
    target = write(tmp_path / "target", lines_of(TARGET, end)[: -len(end)], False)
    assert data.read_pairs(source, str(target)) == data.Pairs(SOURCE, TARGET)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["x.tsv", "x.TAB.gz", "x.csv", "x.jsonl", "x.ndjson"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_tables(tmp_path, end, name, start):
    text = lines_of({"t": TSV, "c": CSV}.get(name[2].lower(), JSON), end)
    path = write(tmp_path / name, text, name.endswith(".gz"), start)
    assert data.read_pairs(path) == data.Pairs(SOURCE, TARGET)


@pytest.mark.parametrize("compress, name", [(True, "x.csv"), (False, "x.csv.gz")])
def test_compression_needs_no_name(tmp_path, compress, name):
    path = write(tmp_path / name, lines_of(CSV, "\n"), compress)
    assert len(data.read_pairs(path)) == 5


@pytest.mark.parametrize("name", ["x.tsv", "x.csv"])
def test_columns_by_number_and_by_name(tmp_path, name):
    separator = "\t" if name == "x.tsv" else ","
    rows = [["id", "en", "de"], ["1", "a", "b"], [], ["2", "c", "d", "more"]]
    path = write(tmp_path / name, lines_of(map(separator.join, rows), "\n"))
    pairs = data.Pairs(["b", "d"], ["a", "c"])
    assert data.read_pairs(path, columns=("de", "en")) == pairs
    assert data.read_pairs(path, columns=[2, 1]) == pairs


def test_csv_of_several_lines_keys_of_json_and_its_surrogates(tmp_path):
    path = write(tmp_path / "x.csv", '"a\nb",c\nd,e\n')
    assert data.read_pairs(path) == data.Pairs(["a\nb", "d"], ["c", "e"])
    path = write(tmp_path / "x.jsonl", '{"de": "a", "en": "b"}\n\n{"en":"d","de":"c"}')
    pairs = data.read_pairs(path, columns=("de", "en"))
    assert pairs == data.Pairs(["a", "c"], ["b", "d"])
    # A lone one is U+FFFD; two that belong together are one character.
    row = '{"source": "a\\ud800", "target": "\\ud83d\\ude00 \\ude00"}'
    pairs = data.read_pairs(write(tmp_path / "x.jsonl", row))
    assert pairs == data.Pairs(["a\ufffd"], ["\N{GRINNING FACE} \ufffd"])


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "two"])
def test_no_pairs(tmp_path, name):
    path = write(tmp_path / name, "")
    assert len(data.read_pairs(path, path if name == "two" else None)) == 0


@pytest.mark.parametrize("name", ["x.tsv", "x.csv", "x.jsonl", "two"])
def test_other_encodings_are_skipped_and_counted(tmp_path, name):
    rows = {
        "x.tsv": b"a\tb\nc\xe4\td\ne\tf\xff\ng\th\n",
        "x.csv": b'a,b\n"c\xe4",d\ne,"f\n\xff"\ng,h\n',
        "x.jsonl": b'{"source": "a", "target": "b"}\n{"source": "\xe4", "target": "d"}'
        b'\n{"source": "e", "target": "\xff"}\n{"source": "g", "target": "h"}\n',
        "two": b"a\nc\xe4\ne\ng\n",
    }
    paths = [write(tmp_path / name, rows[name])]
    if name == "two":
        paths.append(write(tmp_path / "target", b"b\nd\nf\xff\nh\n"))
    pairs = data.read_pairs(*paths, row_errors="skip-all")
    assert pairs == data.Pairs(["a", "g"], ["b", "h"])
    assert pairs.report.dropped == {"not UTF-8": 2}
    with pytest.raises(ValueError, match="in line 2 of"):
        data.read_pairs(*paths, row_errors="fatal")


def test_ten_thousand_words_in_a_line(tmp_path):
    words = "word " * 10_000
    path = write(tmp_path / "x.csv", f"{words},b\n")
    assert data.read_pairs(path).source == [words]


TMX = """<?xml version="1.0" encoding="{encoding}"?>
<tmx version="1.4"{namespace}><header/><body>
<tu><tuv xml:lang="EN-US"><seg>a dog</seg></tuv><tuv xml:lang="de"><seg>ä</seg></tuv>
    <tuv xml:lang="de-AT"><seg>no</seg></tuv></tu>
<tu><tuv xml:lang="en-US"><seg>only one &amp; U\u2028</seg></tuv></tu>
<tu><note>n</note><tuv lang="de-CH"><prop>p</prop><seg>
   zwei <hi>bunte</hi> <bpt i="1">&lt;b&gt;</bpt>Hunde<ept i="1">&lt;/b&gt;</ept>
     ja
   </seg></tuv><tuv lang="en-US"><seg>two<ph>{{}}</ph> dogs\u2028\u00a0</seg></tuv>
</tu></body></tmx>
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("namespace", ["", ' xmlns="http://www.lisa.org/tmx14"'])
@pytest.mark.parametrize("compress", [False, True])
def test_tmx(tmp_path, encoding, namespace, compress):
    text = TMX.format(encoding=encoding, namespace=namespace).encode(encoding)
    path = write(tmp_path / "x.tmx", text, compress)
    pairs = data.read_pairs(path, columns=("de", "EN"))
    assert pairs.source == ["ä", "zwei bunte Hunde ja"]
    assert pairs.target == ["a dog", "two dogs\u2028\u00a0"]
    assert pairs.report.dropped == {"language missing": 1}
    assert pairs.report.examples == {"language missing": ["unit 2: only one & U"]}


def test_tmx_is_read_piece_by_piece(tmp_path):
    """Ten times the file takes little more memory: the strings, not the tree."""
    unit = TMX[TMX.index("<tu>") : TMX.index("</tu>") + 5]
    peaks = []
    for count in (100, 1000):
        text = f"<tmx><body>{unit * count}</body></tmx>"
        path = write(tmp_path / "x.tmx", text)
        data.read_pairs(path, columns=("de", "en"))
        tracemalloc.start()
        assert len(data.read_pairs(path, columns=("de", "en"))) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 600 * 900  # a unit as a tree takes several times that
