"""Every error of `data` says what, expected, received and remedy; all are tried.

Those of the tasks are tried beside them.
"""

import ast
import gzip
import traceback
from pathlib import Path

import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn import data
from keras_seqattn.data.corpora.download import fetch
from tests.data.fakes import Letters, encoded_pairs
from tests.data.server import serving

PACKAGE = Path(ks.__file__).parent / "data"
FILES = {
    "two.txt": b"a\nb\n",
    "three.txt": b"a\nb\nc\n",
    "bytes.txt": b"a\n\xff\n",
    "cut.gz": gzip.compress(b"a" * 1000)[:-4],
    "short.tsv": b"a\tb\n\nc\n",
    "quote.csv": b'a,b\nc,"d"e\n',
    "names.csv": b"de,en\na,b\n",
    "bad.jsonl": b'{"source": "a", "target": "b"}\n{"source": \n',
    "key.jsonl": b'\n{"source": "a"}\n',
    "value.jsonl": b'{"source": "a", "target": 5}\n',
    "list.jsonl": b'["a", "b"]\n',
    "bad.tmx": b"<tmx><body>\n<tu></tu>\n<tu></body></tmx>\n",
    "good.tmx": b'<tmx><body><tu><tuv xml:lang="en-US"><seg>a</seg></tuv></tu></body>'
    b"</tmx>",
    "deu.txt": b"Hi.\tHallo.\n",
    "words/train-dev-20-21.txt": b"A  AH\nB\n",
    "words/test.txt": b"A  AH\n",
    "full/1": b"",
    "full/2": b"",
    "full/3": b"",
    "full/4": b"",
    "full/5": b"",
    "full/6": b"",
}
PAIRS = data.Pairs(["a"], ["b"])
ENCODED = encoded_pairs([[3, 3], [4, 4]])


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    np.savez(tmp_path / "other.npz", weights=np.zeros(3))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KERAS_SEQATTN_DATA", raising=False)
    monkeypatch.setenv("KERAS_HOME", "home")


def downloaded(files, path):
    with serving(files) as (address, _):
        try:
            fetch("multi30k", f"{address}/{path}", f"folder/{path}", "1234")
        except (OSError, ValueError) as error:
            # The port is another one every time.
            raise type(error)(str(error).replace(address, "ADDRESS")) from error


def count(owner, name, least, received):
    expected = "a positive integer" if least == 1 else f"an integer, {least} or more"
    return (
        f"{owner} got an unusable {name}. Expected {expected}, "
        f"received {name}={received!r}. Pass a Python int, {least} or more."
    )


def no_text(side, received, position):
    return (
        f"Pairs got something in its {side} that is not a string. Expected "
        f"strings{' or lists of several references' * (side == 'target')}, "
        f"received {received!r} at position {position}. Decode bytes, and leave "
        "out pairs without a text on one side."
    )


def not_called(epoch):
    pytest.fail("sizes are looked at first")


def sampled(epoch):
    text = ks.text.Words(["<pad>", "<s>", "</s>", "<unk>", "a"])
    return data.encode(PAIRS, text, text, sample=True)


def malformed_json(received, number, path):
    return (
        "read_pairs got a malformed row. Expected a JSON object with strings under "
        f"'source' and 'target', received {received} in line {number} of {path!r}. "
        "Correct the line, or choose other columns."
    )


def columns(format, words, received, example):
    return (
        f"read_pairs got unusable columns for {format}. Expected two {words}, "
        f"received columns={received!r}. Pass the source column first, e.g. "
        f"columns={example}."
    )


NO_SIZE = (
    "batches got no size. Expected batch_tokens, batch_size or both, received neither. "
    "Pass e.g. batch_tokens=2000."
)
NUMBERS = "numbers from 0, or names in the first row"
FOREIGN = (
    "encode got a cache that it did not write. Expected a path without a "
    "file, or a file of an earlier call, received {!r}. Pass another path, "
    "or delete the file if it is a damaged cache."
)

ROWS = [
    (
        lambda: data.Pairs(["a", "b"], ["c"]),
        "Pairs got sides of different length. Expected as many targets as "
        "sources, received 2 sources and 1 targets. Check both lists: an item "
        "may be missing.",
    ),
    (
        lambda: data.Pairs("abc", ["c"]),
        "Pairs got a single string as its source. Expected a list of strings, "
        "received 'abc'. Put the string into a list, or read a file with "
        "read_pairs.",
    ),
    (
        lambda: data.Pairs(["a"], None),
        "Pairs got an unusable target. Expected a list of strings, received None. Pass "
        "as many strings as the other side has.",
    ),
    (lambda: data.Pairs([1], [2]), no_text("source", 1, 0)),
    (lambda: data.Pairs(["a", None], ["b", "c"]), no_text("source", None, 1)),
    (lambda: data.Pairs(["a", ["b"]], ["c", "d"]), no_text("source", ["b"], 1)),
    (lambda: data.Pairs(["a", "b"], ["c", []]), no_text("target", [], 1)),
    (lambda: data.Pairs(["a", "b"], [["c"], ["d", 2]]), no_text("target", ["d", 2], 1)),
    (lambda: data.Pairs(["a"], [b"b"]), no_text("target", b"b", 0)),
    (
        lambda: data.read_pairs("two.txt", "none.txt"),
        "read_pairs got a path without a file. Expected a path of a file, "
        "received 'none.txt'. Check the folder and the spelling.",
    ),
    (
        lambda: data.read_pairs("words", "two.txt"),
        "read_pairs got a path without a file. Expected a path of a file, "
        "received 'words'. Check the folder and the spelling.",
    ),
    (
        lambda: data.read_pairs("two.txt", "cut.gz"),
        "read_pairs got a damaged file. Expected a whole gzip file, received 'cut.gz' "
        "with the error 'Compressed file ended before the end-of-stream marker was "
        "reached'. Download or compress it again.",
    ),
    (
        lambda: data.read_pairs("two.txt", "three.txt"),
        "read_pairs got two files of different length. Expected the same "
        "number of lines in both, received 2 in 'two.txt' and 3 in "
        "'three.txt'. Check the files: a line may be missing or broken in two.",
    ),
    (
        lambda: data.read_pairs("two.txt", "bytes.txt"),
        "read_pairs got a text that is not UTF-8. Expected UTF-8, received other bytes "
        "in line 2 of 'bytes.txt'. Convert the file, or drop such pairs with "
        'encoding_errors="skip".',
    ),
    (
        lambda: data.read_pairs("two.txt", "two.txt", encoding_errors="ignore"),
        "read_pairs got an unknown encoding_errors. Expected one of fatal, "
        "skip, received 'ignore'. Check the spelling.",
    ),
    (
        lambda: data.read_pairs("two.txt", "two.txt", format="tsv"),
        "read_pairs got options of a table for two files. Expected neither "
        "format nor columns, received format='tsv' and columns=None. Leave "
        "them out, or pass a single file.",
    ),
    (
        lambda: data.read_pairs("two.txt"),
        "read_pairs got a single file of unknown format. Expected a name that "
        "ends in .tsv, .tab, .csv, .jsonl, .ndjson, .tmx, with or without .gz, "
        "received 'two.txt'. Rename the file, pass format=\"tsv\" or another "
        "format, or pass the file with the targets as well.",
    ),
    (
        lambda: data.read_pairs("two.txt", format="xls"),
        "read_pairs got an unknown format. Expected one of csv, jsonl, tmx, "
        "tsv, received 'xls'. Check the spelling.",
    ),
    (
        lambda: data.read_pairs("short.tsv", columns=("a", 1)),
        columns("tsv", NUMBERS, ("a", 1), (0, 1)),
    ),
    (
        lambda: data.read_pairs("quote.csv", columns=(0, -1)),
        columns("csv", NUMBERS, (0, -1), (0, 1)),
    ),
    (
        lambda: data.read_pairs("bad.jsonl", columns="en"),
        columns("jsonl", "keys", "en", ("source", "target")),
    ),
    (
        lambda: data.read_pairs("good.tmx"),
        columns("tmx", "language codes", None, ("en", "de")),
    ),
    (
        lambda: data.read_pairs("short.tsv"),
        "read_pairs got a malformed row. Expected 2 columns or more, received 1 in "
        "line 3 of 'short.tsv'. Check the row and the format, or choose other columns.",
    ),
    (
        lambda: data.read_pairs("quote.csv"),
        "read_pairs got a malformed row. Expected comma-separated values, "
        "received the error '\\',\\' expected after \\'\"\\'' in the row that "
        "begins in line 2 of 'quote.csv'. Check the quotes: one may not be "
        "doubled or closed.",
    ),
    (
        lambda: data.read_pairs("names.csv", columns=("de", "fr")),
        "read_pairs got columns that do not exist. Expected names in the first "
        "row of 'names.csv', ['de', 'en'], received ['fr']. Check the "
        "spelling, or pass numbers for a table without a header.",
    ),
    (
        lambda: data.read_pairs("bad.jsonl"),
        malformed_json(
            "JSONDecodeError('Expecting value: line 1 column 12 (char 11)')",
            2,
            "bad.jsonl",
        ),
    ),
    (
        lambda: data.read_pairs("key.jsonl"),
        malformed_json("KeyError('target')", 2, "key.jsonl"),
    ),
    (
        lambda: data.read_pairs("value.jsonl"),
        malformed_json("values of type str and int", 1, "value.jsonl"),
    ),
    (
        lambda: data.read_pairs("list.jsonl"),
        malformed_json(
            "TypeError('list indices must be integers or slices, not str')",
            1,
            "list.jsonl",
        ),
    ),
    (
        lambda: data.read_pairs("bad.tmx", columns=("en", "de")),
        "read_pairs got malformed XML. Expected a TMX file, received the error "
        "'mismatched tag: line 3, column 6' in 'bad.tmx' after 1 translation units. "
        "Correct the file, or export it again.",
    ),
    (
        lambda: data.read_pairs("good.tmx", columns=("en", "de")),
        "read_pairs got languages that do not exist. Expected codes that are "
        "in 'good.tmx', ['en-us'], received ['en', 'de']. Check the spelling: "
        "'en' stands for 'en-US', too.",
    ),
    (
        lambda: data.filter_pairs(PAIRS, max_characters=0),
        count("filter_pairs", "max_characters", 1, 0),
    ),
    (
        lambda: data.filter_lengths(ENCODED, min_tokens=True),
        count("filter_lengths", "min_tokens", 1, True),
    ),
    (
        lambda: data.filter_lengths(ENCODED, min_tokens=5, max_tokens=4),
        "filter_lengths got contradictory bounds. Expected min_tokens <= "
        "max_tokens, received 5 and 4. Swap them.",
    ),
    (
        lambda: data.filter_pairs(PAIRS, ratio=0.5),
        "filter_pairs got an unusable ratio. Expected a number, 1 or more, "
        "received ratio=0.5. Pass how many times longer than the other a side "
        "may be, e.g. ratio=3.",
    ),
    (
        lambda: data.EncodedPairs.of([[1], [2]], [[1]]),
        "EncodedPairs got sides of different length. Expected as many targets as "
        "sources, received 2 sources and 1 targets. Encode both sides of the same "
        "Pairs.",
    ),
    (
        lambda: data.encode(PAIRS, Letters(), Letters(), sample=True, cache="x.npz"),
        "encode got contradictory options. Expected sample=True or a cache, "
        "received sample=True and cache='x.npz'. Leave out one of them: a "
        "cache would keep the same random ids.",
    ),
    (
        lambda: data.encode(PAIRS, Letters(), Letters(), cache="two.txt"),
        FOREIGN.format("two.txt"),
    ),
    (
        lambda: data.encode(PAIRS, Letters(), Letters(), cache="other.npz"),
        FOREIGN.format("other.npz"),
    ),
    (
        lambda: data.encode(PAIRS, Letters(), Letters(), cache="words"),
        FOREIGN.format("words"),
    ),
    (
        lambda: data.batches(PAIRS, 100),
        "batches got pairs that are not encoded. Expected EncodedPairs, received "
        "Pairs(1 pair: 'a' -> 'b'). Call encode(pairs, source_text, target_text) "
        "first.",
    ),
    (
        lambda: data.batches(ENCODED.select(np.zeros(0, int)), 100),
        "batches got no pairs. Expected one pair or more, received none. Check "
        "what was read, and the report of the filter.",
    ),
    (lambda: data.batches(ENCODED), NO_SIZE),
    (lambda: data.batches(not_called), NO_SIZE),
    (lambda: data.batches(not_called, 9.5), count("batches", "batch_tokens", 1, 9.5)),
    (
        lambda: data.batches(lambda epoch: 5, 30),
        "batches got pairs that are not encoded. Expected EncodedPairs, received 5. "
        "Call encode(pairs, source_text, target_text) first.",
    ),
    (
        lambda: data.batches(sampled, 30),
        "Words cannot draw a random segmentation. Expected sample=False, "
        "received sample=True. Use SentencePiece, whose segmentations have "
        "probabilities.",
    ),
    (lambda: data.batches(ENCODED, 0), count("batches", "batch_tokens", 1, 0)),
    (
        lambda: data.plan_batches(ENCODED, batch_size=2.5),
        count("batches", "batch_size", 1, 2.5),
    ),
    (
        lambda: data.batches(ENCODED, 100, pad_to_multiple=0),
        count("batches", "pad_to_multiple", 1, 0),
    ),
    (lambda: data.batches(ENCODED, 100, seed=None), count("batches", "seed", 0, None)),
    (lambda: data.batches(ENCODED, 100, epoch=-1), count("batches", "epoch", 0, -1)),
    (
        lambda: data.multi30k(languages=("en", "cs")),
        "multi30k got unusable languages. Expected two of ['de', 'en', 'fr'], "
        "received languages=('en', 'cs'). Pass the source language first, e.g. "
        "('en', 'de').",
    ),
    (
        lambda: data.multi30k("nowhere"),
        "multi30k got a folder without its files. Expected "
        "'train.lc.norm.tok.en' or 'train.lc.norm.tok.en.gz' in 'nowhere', "
        "received no folder. Pass another folder, or set KERAS_SEQATTN_DATA to "
        "the folder that contains the folder 'multi30k'.",
    ),
    (
        lambda: data.multi30k("full", tokenized=False),
        "multi30k got a folder without its files. Expected 'train.en' or "
        "'train.en.gz' in 'full', received ['1', '2', '3', '4', '5'] and "
        "others. Pass another folder, or set KERAS_SEQATTN_DATA to the folder "
        "that contains the folder 'multi30k'.",
    ),
    (
        lambda: downloaded({}, "a.txt"),
        "multi30k could not download a file. Expected an answer from "
        "ADDRESS/a.txt, received 'HTTP Error 404: Not Found'. Check the "
        "connection, or copy 'a.txt' from another machine into the folder "
        "'folder'.",
    ),
    (
        lambda: downloaded({"/a.txt": b"a"}, "a.txt"),
        "multi30k downloaded a file with a wrong checksum. Expected content "
        "with sha256 1234, received "
        "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb from "
        "ADDRESS/a.txt. Try again; if that fails, the file has changed: pass a "
        "folder with files that you trust.",
    ),
    (
        lambda: data.tatoeba("deu.txt", validation=1, test=1),
        "tatoeba got too many sentences to hold out. Expected validation + "
        "test < 1, the different sources in 'deu.txt', received 1 + 1. Lower "
        "these numbers.",
    ),
    (lambda: data.tatoeba("deu.txt", test=0), count("tatoeba", "test", 1, 0)),
    (
        lambda: data.cmudict(),
        "cmudict got no folder. Expected folder=... or the environment "
        "variable KERAS_SEQATTN_DATA, received neither of them. Pass the "
        "folder with train-dev-20-21.txt, train-dev-1-21.txt, test.txt.",
    ),
    (
        lambda: data.cmudict("words"),
        "cmudict got a malformed line. Expected a word, two blanks and "
        "phonemes, received 'B' in line 2 of 'words/train-dev-20-21.txt'. "
        "Correct the file, or download it again.",
    ),
]


def raised(call):
    """The text of the error, and the lines of `data` that it came through."""
    with pytest.raises((ValueError, OSError)) as caught:
        call()
    error, frames = caught.value, []
    while error is not None:
        frames += [
            (Path(frame.filename), frame.lineno)
            for frame in traceback.extract_tb(error.__traceback__)
        ]
        error = error.__cause__
    return str(caught.value), frames


@pytest.mark.parametrize("call, expected", ROWS, ids=[row[1][:40] for row in ROWS])
def test_text(call, expected):
    assert raised(call)[0] == expected


def test_every_raise_is_tried():
    tried = {frame for call, _ in ROWS for frame in raised(call)[1]}
    untried = [
        f"{path.name}:{node.lineno}"
        for path in [*PACKAGE.glob("*.py"), *PACKAGE.glob("corpora/*.py")]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and node.exc is not None
        if not any(
            path == file and node.lineno <= line <= node.end_lineno
            for file, line in tried
        )
    ]
    assert not untried, f"no row reaches {untried}"
