"""Corpora from folders, and Multi30k from a local server."""

import gzip
import hashlib
import os

import pytest

from keras_seqattn import data
from keras_seqattn.data.corpora import multi30k as module
from tests.data.server import serving

# In a copy of the real corpora, where the variable names one.
REAL = os.environ.get("KERAS_SEQATTN_DATA")
SPLITS = {"train": "train", "validation": "val", "test": "test_2016_flickr"}


def text(split, kind, language):
    return f"{split}{kind} {language} 1\n{split}{kind} {language} 2\n".encode()


FILES = {
    f"{name}{kind}.{language}": text(name, kind, language)
    for name in SPLITS.values()
    for kind in ("", ".lc.norm.tok")
    for language in ("en", "de", "fr")
}


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    monkeypatch.delenv("KERAS_SEQATTN_DATA", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    sums = {name: hashlib.sha256(text).hexdigest() for name, text in FILES.items()}
    monkeypatch.setattr(module, "_CHECKSUMS", sums)
    monkeypatch.setattr(module, "_ADDRESS", "http://127.0.0.1:9")  # nobody is there


def check_multi30k(task, kind, languages):
    assert (task.name, task.source_text) == ("multi30k", "subwords")
    for split, name in SPLITS.items():
        sides = (text(name, kind, language).decode() for language in languages)
        assert getattr(task, split) == data.Pairs(*(s.splitlines() for s in sides))
    assert task.references["test"] == [[target] for target in task.test.target]


def write(folder, files, compress):
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / f"{name}.gz" if compress else folder / name
        path.write_bytes(gzip.compress(content) if compress else content)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("tokenized", [False, True])
def test_multi30k_from_a_folder(tmp_path, monkeypatch, compress, tokenized):
    folder = tmp_path / "corpora" / "multi30k"
    write(folder, FILES, compress)
    kind = ".lc.norm.tok" if tokenized else ""
    check_multi30k(data.multi30k(folder, tokenized=tokenized), kind, ("en", "de"))
    monkeypatch.setenv("KERAS_SEQATTN_DATA", str(folder.parent))
    task = data.multi30k(languages=["fr", "en"], tokenized=tokenized)
    check_multi30k(task, kind, ("fr", "en"))


def public():
    found = {f"/tok/{name}": text for name, text in FILES.items() if ".tok." in name}
    for name in [name for name in FILES if ".tok." not in name]:
        found[f"/raw/{name}.gz"] = gzip.compress(FILES[name], mtime=7)
    return found


@pytest.mark.parametrize("tokenized", [False, True])
def test_multi30k_is_downloaded_once(monkeypatch, tokenized):
    with serving(public()) as (address, asked):
        monkeypatch.setattr(module, "_ADDRESS", address)
        task = data.multi30k(tokenized=tokenized)
        assert len(asked) == 6
        kind = ".lc.norm.tok" if tokenized else ""
        check_multi30k(task, kind, ("en", "de"))
        data.multi30k(tokenized=tokenized)
        assert len(asked) == 6
        data.multi30k(languages=("en", "fr"), tokenized=tokenized)
        assert len(asked) == 9


def files_at_home(tmp_path):
    return [name for _, _, names in os.walk(tmp_path / "home") for name in names]


@pytest.mark.parametrize("broken", ["half", "other", "not gzip", "connection"])
def test_broken_download_leaves_nothing(monkeypatch, tmp_path, broken):
    files, path = public(), "/raw/train.en.gz"
    files[path] = {
        "half": files[path][:-9],
        "other": gzip.compress(b"something else\n"),
        "not gzip": b"<html>404</html>",
        "connection": files[path],
    }[broken]
    lie = broken == "connection"
    with serving(files, lie_about_length=lie) as (address, _):
        monkeypatch.setattr(module, "_ADDRESS", address)
        error = ConnectionError if lie else ValueError
        with pytest.raises(error, match="^multi30k (could not download|downloaded)"):
            data.multi30k(tokenized=False)
    assert files_at_home(tmp_path) == []
    with serving(public()) as (address, _):  # a second try is a fresh one
        monkeypatch.setattr(module, "_ADDRESS", address)
        check_multi30k(data.multi30k(tokenized=False), "", ("en", "de"))


@pytest.mark.parametrize("is_found", [False, True])
def test_offline(monkeypatch, tmp_path, is_found):
    """Nobody answers, or only with "not found"."""
    with serving({}) as (address, _):
        if is_found:
            monkeypatch.setattr(module, "_ADDRESS", address)
        with pytest.raises(ConnectionError, match="could not download"):
            data.multi30k()
    assert files_at_home(tmp_path) == []


ENGLISH = "Hi. Hi. Hello! Run! Go. Go. Wait! Stop!".split()
GERMAN = "Hallo!|Grüß Gott!|Hallo!|Lauf!|Geh.|Gehe.|Warte!|Stopp!".split("|")
CARDS = list(zip(ENGLISH, GERMAN, strict=True))


@pytest.mark.parametrize("reverse", [False, True])
def test_tatoeba(tmp_path, reverse):
    path = tmp_path / "deu.txt"
    lines = [f"{s}\t{t}\tCC-BY 2.0 (France) Attribution: x\n" for s, t in CARDS]
    path.write_text("".join(lines), encoding="utf-8")
    pairs = {card[::-1] if reverse else card for card in CARDS}
    tests = set()
    for seed in range(8):
        task = data.tatoeba(path, reverse=reverse, validation=1, test=2, seed=seed)
        assert (len(task.validation), len(task.test)) == (1, 2)
        held = set()
        for split in ("validation", "test"):
            sources = getattr(task, split).source
            for source, targets in zip(sources, task.references[split], strict=True):
                held |= {(source, target) for target in targets}
        assert {s for s, _ in held} == {s for s, _ in pairs & held}
        assert held == {(s, t) for s, t in pairs if s in {source for source, _ in held}}
        for side in range(2):  # neither side of what is held out has been seen
            assert not {p[side] for p in task.train} & {p[side] for p in held}
        assert set(task.train) <= pairs - held
        again = data.tatoeba(path, reverse=reverse, validation=2, test=2, seed=seed)
        assert again.test == task.test
        tests.add(tuple(task.test.source))
    assert len(tests) > 2


WORDS = {
    "train-dev-20-21.txt": b"A  AH\nA  EY\nAB  AE B\nDO  D UW\nDO  D OW\n",
    "train-dev-1-21.txt": b"BE  B IY\nDO  D AH\n",
    "test.txt": b"READ  R EH D\nREAD  R IY D\nWE  W IY\n",
}


@pytest.mark.parametrize("compress", [False, True])
def test_cmudict(tmp_path, monkeypatch, compress):
    folder = tmp_path / "g2p"
    write(folder, WORDS, compress)
    monkeypatch.setenv("KERAS_SEQATTN_DATA", str(tmp_path))
    for task in (data.cmudict(folder), data.cmudict()):
        assert task.train == data.Pairs(["A", "A", "AB"], ["AH", "EY", "AE B"])
        assert task.validation == data.Pairs(["BE", "DO"], ["B IY", "D AH"])
        assert task.test == data.Pairs(["READ", "WE"], ["R EH D", "W IY"])
        assert task.references["validation"] == [["B IY"], ["D AH", "D UW", "D OW"]]
        assert task.references["test"] == [["R EH D", "R IY D"], ["W IY"]]


@pytest.mark.skipif(not REAL, reason="KERAS_SEQATTN_DATA names no folder")
def test_real_corpora(monkeypatch):
    monkeypatch.undo()
    for tokenized in (False, True):
        task = data.multi30k(languages=("en", "fr"), tokenized=tokenized)
        sizes = [len(pairs) for pairs in (task.train, task.validation, task.test)]
        assert sizes == [29_000, 1_014, 1_000]
    folder = os.path.join(REAL, "multi30k")
    for name, expected in module._CHECKSUMS.items():
        with gzip.open(os.path.join(folder, f"{name}.gz")) as file:
            assert hashlib.sha256(file.read()).hexdigest() == expected
    task = data.cmudict()
    words = {*task.train.source}
    assert not words & {*task.validation.source, *task.test.source}
    assert sum(map(len, task.references["test"])) == 12_855
