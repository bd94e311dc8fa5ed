"""Every error says what, expected, received and remedy, and every one is tried."""

import ast
import io
import json
import re
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest
import sentencepiece

import keras_seqattn as ks
from tests.text.learned import learned

PACKAGE = Path(ks.__file__).parent
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>"]
FOUR_PARTS = re.compile(
    r"\w+(\.\w+)? .+[.] Expected .+received .+[.]? "
    r"(Add|Call|Check|Pass|Remove|Run|Save|Use)\b.+[.]",
    re.DOTALL,
)
SAVED = {"class_name": "Words", "config": {}, "vocabulary_size": 5}


def words(**options):
    return ks.text.Words([*SPECIAL, "a"], **options)


def piece(*args, **options):
    return ks.text.SentencePiece.learn(["the cat", "the hat"] * 3, *args, **options)


def no_word(received):
    return (
        "Words got a vocabulary with a piece that is not a word. Expected str "
        f"that are not empty and have no white space, received {received}. "
        "Remove it: it is not one word in any text."
    )


def unusable_symbols(received):
    return (
        "SentencePiece.learn got unusable user_defined_symbols. Expected a "
        "list of different str that are not empty and not in ['<pad>', '<s>', "
        f"'</s>', '<unk>'], received {received}. Remove empty and repeated "
        "symbols."
    )


CALLS = {
    "normalization": (
        lambda: words(normalization="NFKC"),
        "Words got an unknown normalization. Expected None or one of ['nfc', "
        "'nfkc', 'nfkc_casefold'], received normalization='NFKC'. Use None for "
        "no normalization.",
    ),
    "vocabulary": (
        lambda: ks.text.Words("abc"),
        "Words got an unusable vocabulary. Expected a list of str, received 'abc'. "
        "Pass one str for each id.",
    ),
    "special tokens": (
        lambda: ks.text.Words(["a", "b"]),
        "Words got a vocabulary without the special tokens. Expected ['<pad>', "
        "'<s>', '</s>', '<unk>'] at the start, received ['a', 'b']. Add them, "
        "or learn a vocabulary: Words.learn(texts).",
    ),
    "duplicate": (
        lambda: ks.text.WordPiece([*SPECIAL, "a", "b", "a"]),
        "WordPiece got a vocabulary with a duplicate. Expected every token "
        "once, received 'a' with the ids 4 and 6. Remove one of them.",
    ),
    "longer piece": (
        lambda: ks.text.Characters([*SPECIAL, "a", "bc"]),
        "Characters got a vocabulary with a longer piece. Expected single characters "
        "after ['<pad>', '<s>', '</s>', '<unk>'], received 'bc'. Use SentencePiece or "
        "Words for longer ones.",
    ),
    "empty word": (
        lambda: ks.text.Words([*SPECIAL, "a", ""]),
        no_word("''"),
    ),
    "surrogate": (
        lambda: ks.text.Words([*SPECIAL, "\ud800"]),
        "Words got a vocabulary with a lone surrogate. Expected str that UTF-8 "
        "can encode, received '\\ud800'. Remove it: in every text U+FFFD "
        "replaces it.",
    ),
    "two words": (
        lambda: ks.text.Words([*SPECIAL, "a b"]),
        no_word("'a b'"),
    ),
    "wide space": (
        lambda: ks.text.Words([*SPECIAL, "a\u3000"]),
        no_word("'a\\u3000'"),
    ),
    "vocabulary size": (
        lambda: ks.text.Words.learn(["a"], 4),
        "Words.learn got an unusable vocabulary_size. Expected an integer, 5 "
        "or more (4 tokens are special), received vocabulary_size=4. Pass a "
        "larger size: most models have thousands of tokens.",
    ),
    "fewer than characters": (
        lambda: ks.text.WordPiece.learn(["abc"], 7),
        "WordPiece.learn got an unusable vocabulary_size. Expected an integer, "
        "8 or more (4 tokens are special), received vocabulary_size=7. Pass a "
        "larger size: most models have thousands of tokens.",
    ),
    "texts": (
        lambda: words().encode([["a", "b"]]),
        "Words got unusable texts. Expected a string or strings [batch], "
        "received [['a', 'b']]. Pass str, a list of str or a string tensor "
        "with at most one axis.",
    ),
    "no strings": (
        lambda: words().normalize(np.arange(2)),
        "Words got unusable texts. Expected a string or strings [batch], "
        "received array([0, 1]). Pass str, a list of str or a string tensor "
        "with at most one axis.",
    ),
    "ids": (
        lambda: words().decode([0.5]),
        "Words got unusable ids. Expected integers, received [0.5]. Pass a tensor, a "
        "ragged tensor or lists of int.",
    ),
    "no ids": (
        lambda: words().pieces(words().normalize(["a"])),
        "Words got unusable ids. Expected integers, received string (1,). Pass a "
        "tensor, a ragged tensor or lists of int.",
    ),
    "one id": (
        lambda: words().decode(4),
        "Words got ids without a length. Expected [..., length], received "
        "shape (). Pass [id] for a single id.",
    ),
    "sample": (
        lambda: words().encode("a", sample=True),
        "Words cannot draw a random segmentation. Expected sample=False, "
        "received sample=True. Use SentencePiece, whose segmentations have "
        "probabilities.",
    ),
    "one text": (
        lambda: ks.text.Characters.learn("the cat"),
        "Characters got one text instead of several. Expected an iterable of "
        "str, received 'the cat'. Pass [text], or call "
        "learn_from_files([path]) for a file.",
    ),
    "no text": (
        lambda: ks.text.Words.learn(["a", 3]),
        "Words got an unusable text. Expected str, bytes or a string tensor, received "
        "3. Pass one text per item.",
    ),
    "nothing": (
        lambda: ks.text.Words.learn(iter(["", "  "])),
        "Words got nothing to learn from. Expected at least one text that is "
        "not empty, received no text. Check the iterable: it yields nothing if "
        "it was used up before.",
    ),
    "nothing for SentencePiece": (
        lambda: ks.text.SentencePiece.learn([], 10),
        "SentencePiece got nothing to learn from. Expected at least one text "
        "that is not empty, received no text. Check the iterable: it yields "
        "nothing if it was used up before.",
    ),
    "missing file": (
        lambda: ks.text.Words.learn_from_files(["no/such/file"]),
        "Words did not find a file. Expected a file with one text in each "
        f"line, received {str(Path('no/such/file'))!r}. Check the path.",
    ),
    "model": (
        lambda: ks.text.SentencePiece("a.model"),
        "SentencePiece got an unusable model. Expected bytes, received "
        "'a.model'. Pass the content of the file, e.g. Path(path).read_bytes().",
    ),
    "corrupted model": (
        lambda: ks.text.SentencePiece(b"nonsense"),
        "SentencePiece got a corrupted model. Expected the bytes of a "
        "SentencePiece model, received 8 bytes that cannot be read. Check the "
        "file: it may be truncated, or not a SentencePiece model.",
    ),
    "empty model": (
        lambda: ks.text.SentencePiece(b""),
        "SentencePiece got a corrupted model. Expected the bytes of a "
        "SentencePiece model, received 0 bytes that cannot be read. Check the "
        "file: it may be truncated, or not a SentencePiece model.",
    ),
    "other special tokens": (
        lambda: ks.text.SentencePiece(foreign_model()),
        "SentencePiece got a model with other special tokens. Expected "
        "['<pad>', '<s>', '</s>', '<unk>'] at the start, received ['<unk>', "
        "'<s>', '</s>', '▁']. Use SentencePiece.learn, or the trainer with "
        "pad_id=0, bos_id=1, eos_id=2, unk_id=3.",
    ),
    "nbest_size": (
        lambda: ks.text.SentencePiece(b"", nbest_size=0),
        "SentencePiece got an unusable nbest_size. Expected -1 (all) or 2 or "
        "more, received nbest_size=0. Call encode without sample to draw no "
        "random segmentation.",
    ),
    "alpha": (
        lambda: ks.text.SentencePiece(b"", alpha=-0.1),
        "SentencePiece got an unusable alpha. Expected a number, 0 or more, received "
        "alpha=-0.1. Use e.g. 0.1.",
    ),
    "kind": (
        lambda: piece(10, kind="word"),
        "SentencePiece.learn got an unknown kind. Expected one of bpe, unigram, "
        "received 'word'. Check the spelling.",
    ),
    "character_coverage": (
        lambda: piece(10, character_coverage=0.9),
        "SentencePiece.learn got an unusable character_coverage. Expected a number "
        "from 0.98 to 1, received character_coverage=0.9. Use 1 for alphabets, 0.9995 "
        "for Chinese and Japanese.",
    ),
    "character_coverage as text": (
        lambda: piece(10, character_coverage="1"),
        "SentencePiece.learn got an unusable character_coverage. Expected a number "
        "from 0.98 to 1, received character_coverage='1'. Use 1 for alphabets, 0.9995 "
        "for Chinese and Japanese.",
    ),
    "user_defined_symbols": (
        lambda: piece(10, user_defined_symbols=["<s>", "x"]),
        unusable_symbols("['<s>', 'x']"),
    ),
    "one symbol": (
        lambda: piece(10, user_defined_symbols="<2de>"),
        unusable_symbols("'<2de>'"),
    ),
    "no symbols": (
        lambda: piece(10, user_defined_symbols=None),
        unusable_symbols("None"),
    ),
    "symbols that are no text": (
        lambda: piece(10, user_defined_symbols=[["a"]]),
        unusable_symbols("[['a']]"),
    ),
    "too large": (
        lambda: piece(1000),
        "SentencePiece.learn got a vocabulary_size too large for the text. "
        "Expected at most 12 for these texts, received vocabulary_size=1000. "
        "Pass a smaller size, or more text.",
    ),
    "too large for BPE": (
        lambda: piece(1000, kind="bpe"),
        "SentencePiece.learn got a vocabulary_size too large for the text. "
        "Expected at most 24 for these texts, received vocabulary_size=1000. "
        "Pass a smaller size, or more text.",
    ),
    "too small": (
        lambda: piece(5),
        "SentencePiece.learn got a vocabulary_size too small for the text. "
        "Expected at least 10, one for each character, received "
        "vocabulary_size=5. Pass a larger size, or a smaller "
        "character_coverage.",
    ),
    "nothing the trainer reads": (
        lambda: ks.text.SentencePiece.learn(["a" * 70_000], 6),
        "SentencePiece.learn could not learn. Expected texts that the trainer accepts, "
        "received ... Check the texts.",
    ),
}


def foreign_model():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["aaab aab"]),
        model_writer=model,
        vocab_size=6,
        minloglevel=2,
    )
    return model.getvalue()


def raised(call):
    """The text of the error that `call` raises, and the site that raised it."""
    with pytest.raises((ValueError, FileNotFoundError, ImportError)) as caught:
        call()
    frames = [
        (Path(frame.filename).relative_to(PACKAGE).as_posix(), frame.lineno)
        for frame in traceback.extract_tb(caught.value.__traceback__)
        if Path(frame.filename).is_relative_to(PACKAGE)
    ]
    return str(caught.value), frames[-1]


def says(expected, text):
    pattern = re.escape(expected).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, text) and FOUR_PARTS.fullmatch(text)


@pytest.mark.parametrize("call, expected", CALLS.values(), ids=CALLS)
def test_text(call, expected):
    text, _ = raised(call)
    assert says(expected, text), text


# Folders ------------------------------------------------------------------------------


def folder_with(folder, vocabulary=None, **options):
    """Of `Words`, with other options or another vocabulary."""
    words().save(folder)
    (folder / "text.json").write_text(json.dumps({**SAVED, **options}))
    if vocabulary is not None:
        (folder / "vocabulary.txt").write_bytes(vocabulary)
    return folder


def cut_off(folder):
    learned("unigram").save(folder)
    path = folder / "sentencepiece.model"
    path.write_bytes(path.read_bytes()[:-3])
    return folder


def without(folder, name):
    words().save(folder)
    (folder / name).unlink()
    return folder


def no_json(folder):
    folder_with(folder)
    (folder / "text.json").write_text("nonsense")
    return folder


FIT = (
    "TextProcessor.load got an unusable folder. Expected a vocabulary.txt that fits "
    "its text.json, received from {folder!r}: {reason} Check whether the files were "
    "changed, or save the processor again."
)
LINES = "\n".join([*SPECIAL, "a"]).encode() + b"\n"
FOLDERS = {
    "no folder": (
        lambda folder: folder,
        "TextProcessor.load did not find a file. Expected text.json in a folder "
        "written by save, received {folder!r}. Check the path.",
    ),
    "no vocabulary": (
        lambda folder: without(folder, "vocabulary.txt"),
        "TextProcessor.load did not find a file. Expected vocabulary.txt in a folder "
        "written by save, received {folder!r}. Check the path.",
    ),
    "no JSON": (
        no_json,
        "TextProcessor.load got an unusable text.json. Expected JSON with class_name, "
        "config and vocabulary_size, received JSONDecodeError: Expecting value: line 1 "
        "column 1 (char 0) in {options!r}. Save the processor again.",
    ),
    "another key": (
        lambda folder: folder_with(folder, size=5),
        "TextProcessor.load got an unusable text.json. Expected JSON with class_name, "
        "config and vocabulary_size, received the keys ['class_name', 'config', "
        "'size', 'vocabulary_size'] in {options!r}. Save the processor again.",
    ),
    "unknown class": (
        lambda folder: folder_with(folder, class_name="Syllables"),
        "TextProcessor.load got an unknown class. Expected one of "
        "['Characters', ..., 'Words'...], received 'Syllables' from "
        "{options!r}. Call TextProcessor.load for any class; import the module "
        "of a custom class first.",
    ),
    "unknown option": (
        lambda folder: folder_with(folder, config={"lower": True}),
        FIT.replace("{reason}", "...unexpected keyword argument 'lower'."),
    ),
    "option": (
        lambda folder: folder_with(folder, config={"normalization": "nfd"}),
        FIT.replace("{reason}", "Words got an unknown normalization. ..."),
    ),
    "duplicate": (
        lambda folder: folder_with(folder, LINES + b"b\na\n"),
        FIT.replace("{reason}", "Words got a vocabulary with a duplicate. ..."),
    ),
    "not UTF-8": (
        lambda folder: folder_with(folder, LINES + b"\xff\n"),
        FIT.replace("{reason}", "'utf-8' codec can't decode byte 0xff ...."),
    ),
    "empty": (
        lambda folder: folder_with(folder, b""),
        FIT.replace("{reason}", "Words got a vocabulary without the special ..."),
    ),
    "cut off": (
        lambda folder: folder_with(folder, vocabulary_size=7),
        "TextProcessor.load got a changed vocabulary. Expected 7 tokens, as "
        "text.json says, received 5 from {vocabulary!r}. Save the processor "
        "again: the ids of a model belong to one vocabulary.",
    ),
    "cut off model": (
        cut_off,
        FIT.replace("vocabulary.txt", "sentencepiece.model").replace(
            "{reason}", "SentencePiece got a corrupted model. ..."
        ),
    ),
}


@pytest.mark.parametrize("prepare, expected", FOLDERS.values(), ids=FOLDERS)
def test_folder(prepare, expected, tmp_path):
    folder = prepare(tmp_path / "text")
    text, _ = raised(lambda: ks.text.TextProcessor.load(folder))
    names = {"options": "text.json", "vocabulary": "vocabulary.txt"}
    paths = {key: str(folder / name) for key, name in names.items()}
    assert says(expected.format(folder=str(folder), **paths), text), text


def test_another_class(tmp_path):
    words().save(tmp_path)
    text, _ = raised(lambda: ks.text.WordPiece.load(tmp_path))
    assert says(
        "WordPiece.load got an unknown class. Expected one of ['WordPiece'], "
        f"received 'Words' from {str(tmp_path / 'text.json')!r}. Call "
        "TextProcessor.load for any class; import the module of a custom class "
        "first.",
        text,
    )


# Packages -----------------------------------------------------------------------------

PACKAGES = {
    "tensorflow_text": (
        lambda: words(normalization="nfc"),
        "Words needs a package that is not installed. Expected "
        'tensorflow-text, received "...". Run pip install '
        '"tensorflow-text>=2.21.1,<2.22"; on Windows and Intel Macs, where it '
        "has no wheels, use Words or Characters with normalization=None.",
    ),
    "sentencepiece": (
        lambda: piece(12),
        "SentencePiece.learn needs a package that is not installed. Expected "
        'sentencepiece, received "...". Run pip install "keras_seqattn[text]".',
    ),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_package(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    call, expected = PACKAGES[name]
    text, _ = raised(call)
    assert says(expected, text), text


@pytest.mark.parametrize("cls", [ks.text.WordPiece, ks.text.SentencePiece])
def test_needs_tensorflow_text(cls, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    with pytest.raises(ImportError, match=f"{cls.__name__} needs a package"):
        cls(b"" if cls is ks.text.SentencePiece else [*SPECIAL, "a"])


# All of them --------------------------------------------------------------------------


def test_every_raise_is_tried(tmp_path, monkeypatch):
    tried = {raised(call)[1] for call, _ in CALLS.values()}
    for name, (prepare, _) in FOLDERS.items():
        folder = prepare(tmp_path / name)
        tried.add(raised(lambda folder=folder: ks.text.TextProcessor.load(folder))[1])
    for name, (call, _) in PACKAGES.items():
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            tried.add(raised(call)[1])
    untried = [
        f"{file}:{first}"
        for file, first, last in raise_statements()
        if not any(file == f and first <= line <= last for f, line in tried)
    ]
    assert not untried, f"no row reaches {untried}"


def raise_statements():
    """(file, first line, last line) of every `raise` that makes an error."""
    drawing = {*(PACKAGE / "text").glob("terminal_*.py")}
    for path in sorted({*(PACKAGE / "text").glob("*.py")} - drawing):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                name = path.relative_to(PACKAGE).as_posix()
                yield name, node.lineno, node.end_lineno
