"""The errors for everything that LiteRT does not support."""

import dataclasses
import functools

import keras
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.export.litert import export_litert
from keras_seqattn.export.litert_run import litert_function
from tests.translator import tiny

TEXTS = ["one two three", "two three four"]


class Own(ks.text.Words):
    """A processor of a user."""


class Unusual:
    """Its logits come from an operation that LiteRT lacks."""

    def start(self, source):
        zeros = tf.zeros_like(source[:, 0])
        memory = ks.types.Memory(zeros[:, None], (), source != 0)
        return ks.types.Started(zeros, memory)

    def step(self, tokens, state, memory):
        last = tf.one_hot(tokens, words().vocabulary_size)
        logits = tf.math.igamma(last + 0.5, 0.5)
        return ks.types.Step(logits, tf.cast(memory.mask, tf.float32), state)


@functools.cache
def words(kind=ks.text.Words, **options):
    return kind.learn(TEXTS, **options)


def pipeline(**changes):
    text = words()
    made = tiny.translator(text, text, search=ks.Greedy()).pipeline
    return dataclasses.replace(made, **changes)


def quantized():
    model = pipeline().model
    model.source_embedding.quantize("int8")
    return model


def half():
    keras.config.set_dtype_policy("mixed_bfloat16")
    return pipeline().model


def bpe():
    return ks.text.SentencePiece.learn(TEXTS, 18, kind="bpe")


SIZES = {"source_length": 9, "target_length": 5}
TEXT = (
    "export_litert got a {}_text that LiteRT does not support. Expected Characters, "
    "Words, WordPiece or a unigram SentencePiece without byte fallback, with tokens up "
    "to 250 bytes; the source without normalization, received a {}. Train with one of "
    "these, or use Translator.export."
)
SEARCH = (
    "export_litert got a search that LiteRT does not support. Expected Greedy() or "
    "BeamSearch(...) with no_repeat_ngram=0, received {}. Use another search, e.g. "
    "translator.with_search(Greedy())."
)
REPEATED = ks.Greedy(no_repeat_ngram=2)
CASES = {
    "a source with a normal form": (
        lambda: {"source_text": words(normalization="nfc")},
        TEXT.format("source", "Words with normalization='nfc'"),
    ),
    "a source of BPE": (
        lambda: {"source_text": bpe()},
        TEXT.format("source", "SentencePiece of another kind"),
    ),
    "a source of another class": (
        lambda: {"source_text": words(Own)},
        TEXT.format("source", "Own"),
    ),
    "a target of another class": (
        lambda: {"target_text": words(Own)},
        TEXT.format("target", "Own"),
    ),
    "a long word": (
        lambda: {"target_text": ks.text.Words.learn(["é" * 126])},
        TEXT.format("target", "Words with a token of 252 bytes"),
    ),
    "samples": (
        lambda: {"search": ks.decoding.Sample(seed=1)},
        SEARCH.format(repr(ks.decoding.Sample(seed=1))),
    ),
    "n-grams": (lambda: {"search": REPEATED}, SEARCH.format(repr(REPEATED))),
    "unknown words": (
        lambda: {"unknown": {"one": "eins"}},
        "export_litert cannot replace unknown words. Expected unknown=None, received a "
        "dict of 1. Leave it out, and replace unknown words in the application, by the "
        "alignments.",
    ),
    "quantised": (
        lambda: {"model": quantized()},
        "export_litert got a model that is quantised already. Expected float32 "
        "weights, because LiteRT does not support int8 layers of Keras, received "
        'variables of int8. Export the model before quantize("int8"), with '
        'weights="int8".',
    ),
    "half precision": (
        lambda: {"model": half()},
        "export_litert got a model in bfloat16, which LiteRT does not support. "
        "Expected float32, received layers of the policy mixed_bfloat16. Build the "
        "model under the policy float32, and copy the weights: "
        "model.set_weights(trained.get_weights()).",
    ),
    "an operation": (
        lambda: {"model": Unusual()},
        "export_litert got a model that LiteRT does not support. Expected operations "
        'of LiteRT and of tensorflow-text, received "Encountered unresolved custom op: '
        'Igamma.". Use other layers, or Translator.export: a SavedModel has all '
        "operations.",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_be_exported(tmp_path, name):
    changes, said = CASES[name]
    path = tmp_path / "older.tflite"
    path.write_bytes(b"older")
    with pytest.raises(ValueError) as caught:
        export_litert(pipeline(**changes()), path, **SIZES)
    assert str(caught.value) == said
    assert [x.read_bytes() for x in tmp_path.iterdir()] == [b"older"]


@pytest.mark.parametrize(
    "options, said",
    [
        (
            {"source_length": 1},
            "export_litert got an unusable source_length. Expected an integer, 2 "
            "or more, received source_length=1. Pass a Python int, 2 or more.",
        ),
        (
            {"target_length": 0},
            "export_litert got an unusable target_length. Expected a positive "
            "integer, received target_length=0. Pass a Python int, 1 or more.",
        ),
        (
            {"batch": None},
            "export_litert got an unusable batch. Expected a positive integer, "
            "received batch=None. Pass a Python int, 1 or more.",
        ),
        (
            {"weights": "bfloat16"},
            "export_litert got an unknown value of weights. Expected one of float16, "
            "float32, int8, received 'bfloat16'. Use 'float16', the nearest.",
        ),
    ],
)
def test_unusable_options(tmp_path, options, said):
    with pytest.raises(ValueError) as caught:
        export_litert(pipeline(), tmp_path / "x.tflite", **{**SIZES, **options})
    assert str(caught.value) == said
    assert not list(tmp_path.iterdir())


def test_a_source_may_be_bpe_where_it_is_written(tmp_path):
    """Decoding joins the pieces of any processor."""
    model = tiny.model(words(), bpe())
    made = ks.Translator(model, words(), bpe(), ks.Greedy(), 5).pipeline
    export_litert(made, tmp_path / "x.tflite", **SIZES)
    translate = litert_function(tmp_path / "x.tflite")
    for text in TEXTS:
        assert (
            translate([text])["texts"].tolist() == made([text]).texts.numpy().tolist()
        )

    for texts in ("one", ["one", "two"]):
        with pytest.raises(ValueError) as caught:
            translate(texts)
        assert str(caught.value) == (
            "litert_function got the wrong number of texts. Expected a list of 1, the "
            f"batch size of the file, received {texts!r}. Add empty texts, or export "
            "with another batch."
        )
