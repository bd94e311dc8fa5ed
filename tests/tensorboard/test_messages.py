"""Every error says what, expected, received and remedy; all are tried."""

import ast
import traceback
from pathlib import Path

import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.pictures.picture import hypothesis, picture
from tests.tensorboard.logs import spaced
from tests.translator import tiny

PACKAGE = Path(ks.__file__).parent
FILES = [
    *(PACKAGE / "tensorboard").glob("*.py"),
    *(PACKAGE / "pictures").glob("*.py"),
    *(PACKAGE / "callbacks").glob("attention_*.py"),
]
WEIGHTS, PIECES = [[0.5, 0.5]], ["a", "b"]


def callback(sentences=("abba",), translator=None, **options):
    translator = translator or tiny.translator(*tiny.texts())
    ks.callbacks.AttentionCallback(translator, sentences, **options)


class Bare:
    """The attributes of a translator that the callback reads."""

    def __init__(self):
        made = tiny.translator(*tiny.texts())
        self.source_text, self.target_text = made.source_text, made.target_text
        self.search, self.pipeline, self.model = made.search, made.pipeline, object()


def attention(alignment=WEIGHTS, source=PIECES, target=("c",), **options):
    ks.tensorboard.attention("a", alignment, source, list(target), **options)


def embeddings(vectors=((1.0,),), labels=("a",), **options):
    ks.tensorboard.write_embeddings("unused", vectors, labels, **options)


def of_one(name, expected, received):
    return (
        f"attention got an unusable {name}. Expected {expected}, received "
        f"{received}. Pass one sentence without padding; call the op once for "
        "each sentence."
    )


def count(name, received):
    return (
        f"AttentionCallback got an unusable {name}. Expected a positive "
        f"integer, received {name}={received!r}. Pass a Python int, 1 or more."
    )


def links(*possible):
    return ks.metrics.GoldLinks(frozenset(), frozenset(possible))


NUMBERS = "numbers [target, source] or [heads, target, source]"
ROWS = [
    (
        lambda: callback(translator="me"),
        "AttentionCallback got an unusable translator. Expected a Translator, "
        "received 'me'. Build one from the model and its text processors: "
        "Translator(model, source_text, target_text).",
    ),
    (
        lambda: callback(translator=ks.Translator),
        "AttentionCallback got an unusable translator. Expected a Translator, "
        f"received {ks.Translator!r}. Build one from the model and its text "
        "processors: Translator(model, source_text, target_text).",
    ),
    (
        lambda: callback("abba"),
        "AttentionCallback got unusable sentences. Expected a list of str, "
        "received 'abba'. Put a single text into a list.",
    ),
    (
        lambda: callback(7),
        "AttentionCallback got unusable sentences. Expected a list of str, "
        "received 7. Put a single text into a list.",
    ),
    (
        lambda: callback([]),
        "AttentionCallback got no sentences. Expected a list of one str or "
        "more, received an empty list. Choose for example 8 sentences of the "
        "validation set.",
    ),
    (
        lambda: callback(["a", b"b"]),
        "AttentionCallback got unusable sentences. Expected str without lone "
        "surrogates, received b'b' at position 1. Decode bytes first, and pass "
        "a single reference for each sentence.",
    ),
    (
        lambda: callback(["\ud800"]),
        "AttentionCallback got unusable sentences. Expected str without lone "
        "surrogates, received '\\ud800' at position 0. Decode bytes first, and "
        "pass a single reference for each sentence.",
    ),
    (
        lambda: callback(["a", " \t"]),
        "AttentionCallback got a blank sentence. Expected text in each "
        "sentence, received ' \\t' at position 1. Leave out the blank sentence.",
    ),
    (
        lambda: callback(["a"], references=[["x", "y"]]),
        "AttentionCallback got unusable references. Expected str without lone "
        "surrogates, received ['x', 'y'] at position 0. Decode bytes first, "
        "and pass a single reference for each sentence.",
    ),
    (
        lambda: callback(["a"], references=[]),
        "AttentionCallback got no references. Expected a list of one str or "
        "more, received an empty list. Choose for example 8 sentences of the "
        "validation set.",
    ),
    (
        lambda: callback(["a", "b"], references=["x"]),
        "AttentionCallback got references that do not fit its sentences. "
        "Expected one reference for each sentence, received "
        "1 references and 2 sentences. Pass one for each, or "
        "references=None.",
    ),
    (
        lambda: callback(["a"], gold=[links()]),
        "AttentionCallback got gold links that do not fit. Expected "
        "references, and GoldLinks for each sentence, received no references "
        "and 1 sentences. Pass both, or gold=None.",
    ),
    (
        lambda: callback(["a"], references=["x"], gold=[links(), links()]),
        "AttentionCallback got gold links that do not fit. Expected "
        "references, and GoldLinks for each sentence, received 2 links "
        "and 1 sentences. Pass both, or gold=None.",
    ),
    (
        lambda: callback(["a b"], references=["x"], gold=[links((1, 1))]),
        "AttentionCallback got unusable gold links. Expected GoldLinks between "
        "2 source words and 1 reference words, received "
        "GoldLinks(sure=frozenset(), possible=frozenset({(1, 1)})) at position "
        "0. Take the links from read_alignments; words are separated by white "
        "space and counted from 0.",
    ),
    (
        lambda: callback(["a"], references=["x"], gold=["0-0"]),
        "AttentionCallback got unusable gold links. Expected GoldLinks between "
        "1 source words and 1 reference words, received '0-0' at position 0. "
        "Take the links from read_alignments; words are separated by white "
        "space and counted from 0.",
    ),
    (lambda: callback(every=0), count("every", 0)),
    (lambda: callback(beam=True), count("beam", True)),
    (
        lambda: callback(name=" "),
        "AttentionCallback got an unusable name. Expected a str that is not "
        "blank, received name=' '. Pass the first part of the tags, for "
        "example name='en-de'.",
    ),
    (
        lambda: callback(translator=Bare(), projector=True),
        "AttentionCallback got projector=True for a model without known "
        "embeddings. Expected a model with source_embedding and "
        "target_embedding, such as Seq2Seq, received object. Pass "
        "projector=False, and call write_embeddings yourself.",
    ),
    (
        lambda: callback(log_dir=__file__),
        "AttentionCallback got an unusable log_dir. Expected a folder that "
        f"exists or can be created, received log_dir={__file__!r}. Choose a "
        "path that you can write to and that is not a file.",
    ),
    (
        lambda: callback(log_dir=None),
        "AttentionCallback got an unusable log_dir. Expected a folder that "
        "exists or can be created, received log_dir=None. Choose a path that "
        "you can write to and that is not a file.",
    ),
    (
        lambda: attention(np.zeros((1, 1, 2, 2))),
        of_one("alignment", NUMBERS, "float64 (1, 1, 2, 2)"),
    ),
    (lambda: attention([["a"]]), of_one("alignment", NUMBERS, "[['a']]")),
    (
        lambda: attention([[0.5], [0.5, 0.5]]),
        of_one("alignment", NUMBERS, "[[0.5], [0.5, 0.5]]"),
    ),
    (lambda: attention(source=[7]), of_one("source_tokens", "strings [source]", "[7]")),
    (
        lambda: attention(target=[["c"]]),
        of_one("target_tokens", "strings [target]", "[['c']]"),
    ),
    (
        lambda: attention(source_text=["a b"]),
        of_one("source_text", "a string or None", "['a b']"),
    ),
    (
        lambda: attention(target_text=7),
        of_one("target_text", "a string or None", "7"),
    ),
    (
        lambda: picture(*spaced("a"), [hypothesis(*spaced("b"), np.ones((2, 3)))]),
        "A picture got an alignment that does not fit its tokens. Expected "
        "[target, source] = [2, 2], with heads in front or without, received "
        "shape [1, 2, 3]. Remove the padding, and pass one token for each row "
        "and each column.",
    ),
    (
        lambda: hypothesis(*spaced("b"), np.ones((2, 2)), heads=["a", "b"]),
        "A picture got names that do not fit its heads. Expected a name for "
        "each of 1 heads, received heads=['a', 'b']. Pass a name for each "
        "head, or heads=None to number them.",
    ),
    (
        lambda: embeddings(labels=["a", "b"]),
        "write_embeddings got labels that do not fit. Expected vectors "
        "[labels, depth] and a label for each vector, received shape (1, 1) "
        "and 2 labels. Pass the vocabulary that belongs to the embedding.",
    ),
    (
        lambda: embeddings(name="../escape"),
        "write_embeddings got an unusable name. Expected letters, digits, -, _ "
        "and ., received name='../escape'. Pass another name, for example "
        "'source': files get this name.",
    ),
]


def raised(call):
    """The text of the error, and the line that raised it."""
    with pytest.raises(ValueError) as caught:
        call()
    frames = [
        (Path(frame.filename).name, frame.lineno)
        for frame in traceback.extract_tb(caught.value.__traceback__)
        if Path(frame.filename) in FILES
    ]
    return str(caught.value), frames[-1]


@pytest.mark.parametrize("call, expected", ROWS, ids=[row[1][:40] for row in ROWS])
def test_text(call, expected, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # the usual log_dir is a relative one
    assert raised(call)[0] == expected


def test_every_raise_is_tried(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    tried = {raised(call)[1] for call, _ in ROWS}
    untried = [
        f"{path.name}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and node.exc is not None
        if not any(
            path.name == file and node.lineno <= line <= node.end_lineno
            for file, line in tried
        )
    ]
    assert not untried, f"no row reaches {untried}"


def test_wrong_options_leave_no_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError):
        callback(every=0)
    assert list(tmp_path.iterdir()) == []


def test_heads_that_do_not_fit_are_found_in_a_loop(tmp_path):
    """In eager mode, the type of the error is ours, not TensorFlow's."""
    import tensorflow as tf

    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=0), pytest.raises(ValueError, match="A picture got"):
        attention([[0.5, 0.25, 0.25]])
