"""Every error of `data` says what is wrong, and none is left untried.

Those of the tasks are tried beside them.
"""

import functools
import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn import data
from keras_seqattn.data import Pairs, batches, encode
from keras_seqattn.data.corpora.download import fetch
from keras_seqattn.data.splitting import split_validation
from tests.data.fakes import Letters, encoded_pairs
from tests.data.server import serving
from tests.raised import check_error, rows, untried

PACKAGE = Path(ks.__file__).parent / "data"
FILES = {
    **{"two.txt": b"a\nb\n", "three.txt": b"a\nb\nc\n", "bytes.txt": b"a\n\xff\n"},
    **{"utf-16.txt": "a\nb\n".encode("utf-16"), "side.tsv": b"a\t \n"},
    **{"cut.gz": gzip.compress(b"a" * 1000)[:-4], "short.tsv": b"a\tb\n\nc\n"},
    **{"quote.csv": b'a,b\nc,"d"e\n', "names.csv": b"de,en\na,b\n"},
    "bad.jsonl": b'{"source": "a", "target": "b"}\n{"source": \n',
    **{"key.jsonl": b'\n{"source": "a"}\n', "list.jsonl": b'["a", "b"]\n'},
    **{"value.jsonl": b'{"source": "a", "target": 5}\n', "deep.jsonl": b"[" * 100_000},
    "bad.tmx": b"<tmx><body>\n<tu></tu>\n<tu></body></tmx>\n",
    "good.tmx": b'<tmx><body><tu><tuv xml:lang="en-US"><seg>a</seg></tuv></tu></body>'
    b"</tmx>",
    **{"deu.txt": b"Hi.\tHallo.\n", "words/test.txt": b"A  AH\n"},
    "words/train-dev-20-21.txt": b"A  AH\nB\n",
    **{f"full/{n}": b"" for n in range(1, 7)},
}
read = data.read_pairs
strict = functools.partial(data.read_pairs, row_errors="fatal")
PAIRS = Pairs(["a"], ["b"])
TRIPLES = [("a", "b"), ("c", "d", "e")]
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


def download(files):
    with serving(files) as (address, _):
        fetch("multi30k", f"{address}/a.txt", "folder/a.txt", "1234")


def not_called(epoch):
    pytest.fail("sizes are looked at first")


def sampled(epoch):
    text = ks.text.Words(["<pad>", "<s>", "</s>", "<unk>", "a"])
    return encode(PAIRS, text, text, sample=True)


def encode_into(cache, sample=False):
    return encode(PAIRS, Letters(), Letters(), cache=cache, sample=sample)


# What is wrong ... parts of the rest of the message: the call that says so.
PAIRS_GOT = {
    "something that is not a pair ... Pairs(1 pair: 'a' -> 'b') at position 0. Unpack "
    "what a filter returns": lambda: Pairs(list(data.filter_pairs(PAIRS))),
    "no pairs ... Task'>. Pass its pairs, e.g. task.train": lambda: Pairs(
        data.tasks.reverse(train=9, validation=9, test=9)
    ),
    "sides of different length ... 2 sources and 1": lambda: Pairs(["a", "b"], ["c"]),
    "a single string as its source ... received 'abc'": lambda: Pairs("abc", ["c"]),
    "an unusable target ... received 5": lambda: Pairs(["a"], 5),
    "something in its source that is ... received 1 at": lambda: Pairs([1], ["a"]),
    "something in its source that is ... ['a'] at": lambda: Pairs([["a"]], ["b"]),
    "something in its target that is ... received [] at": lambda: Pairs(["a"], [[]]),
    "something in its target that is ... ['c', 2]": lambda: Pairs(["a"], [["c", 2]]),
    "something in its target that is not a string ... strings or lists of several "
    "references, received b'b' at position 1": lambda: Pairs(["a", "b"], ["c", b"b"]),
    "something that is not a pair ... received 'a' at position 0. Pass such a list, or "
    "two lists as data.Pairs(sources, targets)": lambda: Pairs(["a", "b"]),
    "something that is not a pair ... ('c', 'd', 'e') at pos": lambda: Pairs(TRIPLES),
    "something that is not a pair ... received None at": lambda: Pairs([None]),
    "sides of different length ... 2 sources": lambda: Pairs((["a", "b"], ["c"])),
    "no pairs ... 'pairs.tsv'. Pass a list such as [('one', 'eins')]; a file is read "
    "by data.read_pairs": lambda: Pairs("pairs.tsv"),
    "no pairs ... received {'a': 'b'}. Pass data.Pairs(": lambda: Pairs({"a": "b"}),
    "no pairs ... received None. Pass data.Pairs(sources": lambda: Pairs(None),
    "no pairs ... EncodedPairs(2 pairs ... pass ids to": lambda: Pairs(ENCODED),
}
READ_PAIRS_GOT = {
    "something that is not a path ... [('a', 'b')]. Pass a name": lambda: read(
        [("a", "b")]
    ),
    "a path without a file ... 'none.txt', which": lambda: read("two.txt", "none.txt"),
    "a path without a file ... 'words', a folder": lambda: read("words", "two.txt"),
    "a path without a file ... '/dev/null', a pipe or a device. Write": lambda: read(
        "/dev/null", "two.txt"
    ),
    "a damaged file ... 'cut.gz' with the error": lambda: read("two.txt", "cut.gz"),
    "a file that is no text in UTF-8 ... 'utf-16.txt', in UTF-16. Save it": lambda: (
        read("two.txt", "utf-16.txt")
    ),
    "two files of different length ... 3 in": lambda: read("two.txt", "three.txt"),
    "an unknown row_errors ... skip, skip-all, received 'ignore'. Use "
    "'fatal' or": lambda: read("two.txt", "two.txt", row_errors="ignore"),
    "options of a table for two files ... format='tsv' and columns=None. Leave them "
    "out, or pass a single file": lambda: read("two.txt", "two.txt", format="tsv"),
    "a single file of unknown format ... .tsv, .tab, .csv, .jsonl, .ndjson, .tmx, with "
    "or without .gz, or tabs, received 'two.txt' ... format=": lambda: read("two.txt"),
    "an unknown format ... 'xls'": lambda: read("two.txt", format="xls"),
    "unusable columns for csv ... =(0, -1)": lambda: read("quote.csv", columns=(0, -1)),
    "unusable columns for jsonl ... two diff": lambda: read("bad.jsonl", columns="en"),
    "unusable columns for tmx ... two different language": lambda: read("good.tmx"),
    "unusable columns for csv ... =[1, 1]": lambda: read("quote.csv", columns=[1, 1]),
    "a malformed row ... UTF-8, received other bytes in line 2 of 'bytes.txt'. Convert "
    "the file": lambda: strict("two.txt", "bytes.txt"),
    "a malformed row. Expected 2 columns, received 1 column in line 3 of 'short.tsv'. "
    "Write one tab between source and target, choose other columns, or name two files, "
    'one for each side; or leave such rows out with row_errors="skip" (--row-errors '
    "skip).": lambda: strict("short.tsv"),
    "a malformed row ... an empty target in line 1 of": lambda: strict("side.tsv"),
    "a malformed row ... in line 2 of 'quote.csv'": lambda: strict("quote.csv"),
    "columns that do not exist ... ['de', 'en'], received ['fr']. Check the "
    "spelling,": lambda: read("names.csv", columns=("de", "fr")),
    "a malformed row ... KeyError('target') in line 2": lambda: strict("key.jsonl"),
    "a malformed row ... of type str and int in line 1": lambda: strict("value.jsonl"),
    "a malformed row ... TypeError('list ... in line 1": lambda: strict("list.jsonl"),
    "a malformed row ... received RecursionError": lambda: strict("deep.jsonl"),
    "too many rows with mistakes. Expected mistakes in at most 5 % of the rows, "
    "received 1 of 2 rows in 'short.tsv': no tab: 1 (line 3). Write one tab ... leave "
    'such rows out with row_errors="skip-all" (--': lambda: read("short.tsv"),
    "too many rows with mistakes ... 1 of 1 rows in 'side.tsv': empty target: 1 (line "
    "1). Add the text": lambda: read("side.tsv"),
    "malformed XML ... after 1 trans": lambda: read("bad.tmx", columns=("en", "de")),
    "languages that do not exist ... ['en-us'], received ['en', 'de']. Check the "
    "spelling": lambda: read("good.tmx", columns=("en", "de")),
}
ENCODE_GOT = {
    "an unusable source_text ... Words'>. Pass e.g": lambda: encode(
        PAIRS, ks.text.Words, Letters()
    ),
    "contradictory options ... ='x.npz'": lambda: encode_into("x.npz", sample=True),
    "a cache that it did not write ... 'two.txt'": lambda: encode_into("two.txt"),
    "a cache that it did not write ... 'other.npz'": lambda: encode_into("other.npz"),
    "a cache that it did not write ... 'words'": lambda: encode_into("words"),
}
BATCHES_GOT = {
    "pairs that are not encoded ... Pairs(1 pair: 'a'": lambda: batches(PAIRS, 100),
    "pairs that are not encoded ... Report ... Unpack": lambda: batches(
        data.filter_lengths(ENCODED), 9
    ),
    "pairs that are not encoded ... received 5": lambda: batches(lambda epoch: 5, 30),
    "no pairs ... received none": lambda: batches(ENCODED.select(np.zeros(0, int)), 9),
    "no size of batches ... received neither": lambda: batches(ENCODED),
    "no size ... batch_tokens, batch_size or both": lambda: batches(not_called),
    "an unusable batch_tokens ... tokens=9.5": lambda: batches(not_called, 9.5),
    "an unusable batch_tokens ... tokens=0": lambda: batches(ENCODED, 0),
    "an unusable batch_size ... 2.5": lambda: batches(ENCODED, batch_size=2.5),
    "an unusable pad_to_mult ... =0": lambda: batches(ENCODED, 9, pad_to_multiple=0),
    "an unusable seed ... 0 ... seed=None": lambda: batches(ENCODED, 100, seed=None),
    "an unusable epoch ... 0 or ... epoch=-1": lambda: batches(ENCODED, 100, epoch=-1),
}
OTHERS = {
    "filter_lengths got pairs that are not encoded ... [('a', 'b')]. Call": lambda: (
        data.filter_lengths([("a", "b")])
    ),
    "EncodedPairs got texts instead of ids ... 'a' at position 0. Call": lambda: (
        data.EncodedPairs.of(["a"], ["b"])
    ),
    "train got too few different sources to split off a validation set ... 50 pairs "
    "with 1 different sources. Add pairs with other sources, or pass": lambda: (
        split_validation("train", Pairs(["a"] * 50, ["b"] * 50))
    ),
    "encode got something that is not a pair ... ('c', 'd', 'e') at position "
    "1": lambda: encode(TRIPLES, Letters(), Letters()),
    "filter_pairs got no pairs ... received 5": lambda: data.filter_pairs(5),
    "filter_pairs got an unusable max_characters ... characters=0. Pass a Python int, "
    "1 or more": lambda: data.filter_pairs(PAIRS, max_characters=0),
    "filter_pairs got an unusable ratio": lambda: data.filter_pairs(PAIRS, ratio=0.5),
    "filter_lengths got an unusable min_tokens ... min_tokens=True. Pass a Python int, "
    "1 or more": lambda: data.filter_lengths(ENCODED, min_tokens=True),
    "filter_lengths got contradictory bounds ... received 5 and 4": lambda: (
        data.filter_lengths(ENCODED, min_tokens=5, max_tokens=4)
    ),
    "EncodedPairs got sides of different length ... 2 sources and 1 targets. Encode "
    "both sides of the same Pairs": lambda: data.EncodedPairs.of([[1], [2]], [[1]]),
    "Words cannot draw a random segmentation": lambda: batches(sampled, 30),
    "multi30k got unusable languages ... languages=('en', 'cs'). Pass the source "
    "language first, e.g. ('en', 'de')": lambda: data.multi30k(languages=("en", "cs")),
    "multi30k got a folder without its files ... 'train.en' or 'train.en.gz' in 'full' "
    "... '4', '5'] and others": lambda: data.multi30k("full", tokenized=False),
    "multi30k got a folder without its files. Expected 'train.lc.norm.tok.en' or "
    "'train.lc.norm.tok.en.gz' in 'nowhere', received no folder. Pass another folder, "
    "or set KERAS_SEQATTN_DATA to the folder that contains the folder "
    "'multi30k'.": lambda: data.multi30k("nowhere"),
    "multi30k could not download a file ... .txt, received 'HTTP Error 404: Not Found "
    "... from another machine into the folder 'folder'": lambda: download({}),
    "multi30k downloaded a file with a wrong checksum ... sha256 1234, received "
    f"{hashlib.sha256(b'a').hexdigest()} from http ... /a.txt": lambda: download(
        {"/a.txt": b"a"}
    ),
    "train got too few pairs to split off a validation set ... 40 pairs or more, "
    "received 1 pair. Add pairs, or": lambda: split_validation("train", PAIRS),
    "train cannot split off a validation ... from 1 to less than 1, the number of "
    "pairs, received 2": lambda: split_validation("train", PAIRS, 2),
    "tatoeba got too many sentences to hold out ... in 'deu.txt', received 1 + 1. "
    "Lower these numbers": lambda: data.tatoeba("deu.txt", validation=1, test=1),
    "tatoeba got an unusable test ... test=0": lambda: data.tatoeba("deu.txt", test=0),
    "cmudict got no folder ... KERAS_SEQATTN_DATA ... 21.txt, test.txt": data.cmudict,
    "cmudict got a malformed line ... 'B' in line 2": lambda: data.cmudict("words"),
    "Pairs got something in its source that is not a string. Expected strings, "
    "received None at position 1. Decode bytes, and leave out pairs without a text on "
    "one side.": lambda: Pairs(["a", None], ["b", "c"]),
    "read_pairs got unusable columns for tsv. Expected two different numbers from 0, "
    "or names in the first row, received columns=('a', 1). Pass the source column "
    "first, e.g. columns=(0, 1).": lambda: read("short.tsv", columns=("a", 1)),
    "read_pairs got a malformed row. Expected a JSON object with strings under "
    "'source' and 'target', received JSONDecodeError('Expecting value: line 1 column "
    "12 (char 11)') in line 2 of 'bad.jsonl'. Correct the line, or choose other "
    'columns; or leave such rows out with row_errors="skip" (--row-errors skip).': (
        lambda: strict("bad.jsonl")
    ),
}
GOT = {"Pairs": PAIRS_GOT, "read_pairs": READ_PAIRS_GOT, "encode": ENCODE_GOT}
GOT["batches"] = BATCHES_GOT
ROWS = rows({f"{owner} got": table for owner, table in GOT.items()}, OTHERS)


@pytest.mark.parametrize("call, what, parts", ROWS, ids=[row.what for row in ROWS])
def test_error(call, what, parts):
    check_error(call, what, *parts)


def test_every_raise_is_tried():
    paths = [*PACKAGE.glob("*.py"), *PACKAGE.glob("corpora/*.py")]
    assert not untried(paths, [row.call for row in ROWS])
