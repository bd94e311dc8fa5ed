"""Every error about pictures says what is wrong, and none is left untried."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.pictures.picture import hypothesis, picture
from tests.raised import check_error, untried
from tests.tensorboard.logs import spaced
from tests.translator import tiny

PACKAGE = Path(ks.__file__).parent
FILES = [
    *(PACKAGE / "tensorboard").glob("*.py"),
    *(PACKAGE / "pictures").glob("*.py"),
    *(PACKAGE / "callbacks").glob("attention_*.py"),
]


# Calls for later.


def callback(sentences=("a",), translator=None, **options):
    return lambda: ks.callbacks.AttentionCallback(
        translator or tiny.untrained(), sentences, **options
    )


def without_embeddings():
    """The attributes of a translator that the callback reads."""
    names = "source_text", "target_text", "search", "pipeline"
    made = {name: getattr(tiny.untrained(), name) for name in names}
    callback(translator=SimpleNamespace(**made, model=object()), projector=True)()


def attention(alignment=((0.5, 0.5),), source=("a", "b"), target=("c",), **options):
    return lambda: ks.tensorboard.attention(
        "a", alignment, list(source), list(target), **options
    )


def embeddings(labels=("a",), **options):
    return lambda: ks.tensorboard.write_embeddings("unused", [[1.0]], labels, **options)


NO_LINKS = ks.metrics.GoldLinks(frozenset(), frozenset())
FAR_LINKS = ks.metrics.GoldLinks(frozenset(), frozenset({(1, 1)}))
LINKED = {"references": ["x"]}
# What is wrong ... parts of the rest of the message: the call that says so.
CALLBACK_GOT = {
    "an unusable translator ... 'me'": callback(translator="me"),
    "an unusable translator ... <class ": callback(translator=ks.Translator),
    "unusable sentences ... a list of str, received 'abba'": callback("abba"),
    "unusable sentences ... received 7. Put a single text": callback(7),
    "no sentences ... received an empty list": callback([]),
    "unusable sentences. Expected str without lone surrogates, received b'b' at "
    "position 1. Decode bytes first; of pairs pass pairs.source as sentences and "
    "pairs.target as references, one for each sentence.": callback(["a", b"b"]),
    "unusable sentences ... '\\ud800' at position 0": callback(["\ud800"]),
    "a blank sentence ... ' \\t' at position 1": callback(["a", " \t"]),
    "unusable references ... ['x'] at position 0": callback(references=[["x"]]),
    "no references ... received an empty list": callback(references=[]),
    "references that do not fit ... 2 references": callback(references=["x", "y"]),
    "gold links that do not fit ... no references": callback(gold=[NO_LINKS]),
    "gold links that do not fit ... 2 links": callback(**LINKED, gold=[NO_LINKS] * 2),
    "unusable gold links ... 2 source words and 1 reference words, received GoldLinks("
    "sure=frozenset(), possible=frozenset({(1, 1)})) at position 0": callback(
        ["a b"], **LINKED, gold=[FAR_LINKS]
    ),
    "unusable gold links ... '0-0' ... read_align": callback(**LINKED, gold=["0-0"]),
    "an unusable every ... received every=0": callback(every=0),
    "an unusable beam ... received beam=True": callback(beam=True),
    "an unusable name ... received name=' '": callback(name=" "),
    "an unknown alignment ... decoder, received 'decoder/layer 1'. Use 'decoder'": (
        callback(alignments=["decoder/layer 1"])
    ),
    "projector=True for a model without known embeddings ... obj": without_embeddings,
    "an unusable log_dir ... test_messages.py'": callback(log_dir=__file__),
    "an unusable log_dir ... received log_dir=None": callback(log_dir=None),
}
ATTENTION_GOT = {
    "an unusable alignment. Expected numbers [target, source] or [heads, target, "
    "source], received float64 (1, 1, 2, 2). Pass one sentence without padding; call "
    "the op once for each sentence.": attention(np.zeros((1, 1, 2, 2))),
    "an unusable alignment ... received [['a']]": attention([["a"]]),
    "an unusable alignment ... received [[0.5], [": attention([[0.5], [0, 1]]),
    "an unusable source_tokens ... received [7]": attention(source=[7]),
    "an unusable target_tokens ... [['c']]": attention(target=[["c"]]),
    "an unusable source_text ... ['a b']": attention(source_text=["a b"]),
    "an unusable target_text ... received 7": attention(target_text=7),
}
ROWS = {
    **{f"AttentionCallback got {said}": call for said, call in CALLBACK_GOT.items()},
    **{f"attention got {said}": call for said, call in ATTENTION_GOT.items()},
    "A picture got an alignment that does not fit its tokens ... [2, 2], with heads in "
    "front or without, received shape [1, 2, 3]": lambda: picture(
        *spaced("a"), [hypothesis(*spaced("b"), np.ones((2, 3)))]
    ),
    "A picture got names that do not fit its heads ... 1 heads, received heads=['a'": (
        lambda: hypothesis(*spaced("b"), np.ones((2, 2)), heads=["a", "b"])
    ),
    "write_embeddings got labels that do not": embeddings(labels=["a", "b"]),
    "write_embeddings got an unusable name": embeddings(name="../escape"),
}


@pytest.fixture(autouse=True)
def inside_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the usual log_dir is a relative one


@pytest.mark.parametrize("said", ROWS)
def test_error(said):
    check_error(ROWS[said], *said.split(" ... "))


def test_every_raise_is_tried():
    assert not untried(FILES, ROWS.values())


def test_wrong_options_leave_no_folder_and_heads_are_counted_in_a_loop(tmp_path):
    with pytest.raises(ValueError):
        callback(every=0)()
    assert list(tmp_path.iterdir()) == []
    # In eager mode, the type of the error is ours, not TensorFlow's.

    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=0), pytest.raises(ValueError, match="A picture got"):
        attention([[0.5, 0.25, 0.25]])()
