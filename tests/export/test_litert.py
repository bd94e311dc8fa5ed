"""A translator in one LiteRT file: the same answers, and clear errors."""

import dataclasses
import functools

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.export.litert import export_litert
from keras_seqattn.export.litert_run import litert_function
from keras_seqattn.export.litert_text import reader, writer
from tests.export import models
from tests.raised import check_error, row
from tests.translator import tiny
from tests.zoo.rows import NAMES

SENTENCES = models.sentences(200)
ODD = ["", "   ", "zzz", " a  bc\t", "\u00c9A", "日本 ab", "x" * 30, "a\u00a0b"]
ODD += ["\U0001f600"]
BYTES = [b"a\xff\xe2\x82b c\xc3", b"\xf0\x9f\x98", b"\xed\xa0\x80z", b"a\0b", b"\0 \0a"]
KINDS = {ks.text.Characters: 11, ks.text.Words: 100}  # and their sizes
KINDS |= {ks.text.WordPiece: 60, ks.text.SentencePiece: 40}
SOURCE, TARGET = 12, 9
CUT = " ".join(["abcd"] * 20)


def strange(count):
    random = np.random.default_rng(3)
    letters = [*"abcdéfghABCDÉFGHİẞx▁  \t\u00a0\u2003\u3000\x1c\v", "日", "\U0001f600"]
    return ["".join(random.choice(letters, random.integers(25))) for _ in range(count)]


def pipeline(name, source, target, search, max_length=TARGET):
    model = models.model(name, source, target)
    return ks.Translator(model, source, target, search, max_length, SOURCE - 1).pipeline


def exported(folder, made, batch=1, **options):
    path = folder / "translator.tflite"
    export_litert(made, path, SOURCE, TARGET, batch, **options)
    return path


def check_same(made, translate, texts, batch=1):
    """Tokens, texts and numbers of all texts; how many different ones."""
    written = set()
    for start in range(0, len(texts) - batch + 1, batch):
        given = texts[start : start + batch]
        received, expected = translate(given), made(given)._asdict()
        assert expected.keys() - received.keys() == {"source_starts", "source_ends"}
        for name, value in received.items():
            wanted = widened(expected[name].numpy(), value.shape)
            if value.dtype.kind == "f":
                wanted = np.maximum(wanted, np.finfo("float32").min)  # LiteRT's -inf
                np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-4)
            else:
                np.testing.assert_array_equal(value, wanted, f"{name} of {given}")
        written |= set(received["texts"].ravel())
    return len(written)


def widened(array, shape):
    """With nothing behind it, up to a static shape."""
    wide = np.full(shape, b"" if array.dtype == object else 0, array.dtype)
    wide[tuple(slice(size) for size in array.shape)] = array
    return wide


def test_greedily_from_characters_to_characters(tmp_path):
    source = ks.text.Characters.learn(SENTENCES[:50], lowercase=True)
    target = ks.text.Characters.learn([models.LETTERS])
    length = ks.decoding.RelativeLength(0.5, plus=1)
    made = pipeline("bahdanau2015", source, target, models.GREEDY, length)
    translate = litert_function(exported(tmp_path, made, batch=2))
    assert check_same(made, translate, [*SENTENCES[:20], *ODD, CUT], batch=2) > 10
    for texts in ("one", ["one", "two", "three"]):
        check_error(
            functools.partial(translate, texts),
            "litert_function got the wrong number of texts. Expected a list of 2, the "
            f"batch size of the file, received {texts!r}. Add empty texts, or export "
            "with another batch.",
        )
    assert [path.name for path in tmp_path.iterdir()] == ["translator.tflite"]


def test_with_a_beam_from_subwords_to_subwords(tmp_path):
    """Decoding joins the pieces of BPE, too, which cannot be a source."""
    text = ks.text.SentencePiece.learn(SENTENCES, 40)
    bpe = ks.text.SentencePiece.learn(SENTENCES, 40, kind="bpe")
    search = ks.BeamSearch(3, n_best=2, length_penalty=0.8, coverage_penalty=0.1)
    made = pipeline("gnmt2016", text, bpe, search)
    translate = litert_function(exported(tmp_path, made))
    assert check_same(made, translate, [*SENTENCES[:8], *ODD, CUT]) > 10


def learned(kind, lowercase):
    return kind.learn(SENTENCES, KINDS[kind], lowercase=lowercase)


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_read_and_written_as_ever(kind, lowercase):
    text = learned(kind, lowercase)
    read, write = reader(text, SOURCE), writer(text)
    given = [*strange(300), *ODD, *BYTES, "\v\x1c\x85", "x" * 300, "x " * 300]
    expected = [
        [*ids[: SOURCE - 1], text.tokens.end] for ids in text.encode(given).to_list()
    ]
    found = read(tf.constant(given))
    lengths = found.lengths.numpy()
    ids = tf.RaggedTensor.from_tensor(found.ids, found.lengths)
    assert ids.to_list() == expected
    assert not found.ids.numpy()[np.arange(SOURCE) >= lengths[:, None]].any()
    assert write(found.ids).numpy().tolist() == text.decode(expected).numpy().tolist()
    is_longer = text.encode(given).row_lengths() > SOURCE - 1
    assert (found.cut | ~is_longer).numpy().all()
    assert found.blank.numpy().tolist() == [not one.strip() for one in given]


@pytest.mark.slow
def test_smaller_weights(tmp_path):
    text = learned(ks.text.WordPiece, lowercase=True)
    made = pipeline("luong2015", text, text, ks.Greedy())
    whole = exported(tmp_path, made).stat().st_size
    expected = made(SENTENCES[:20])
    bytes_of_weights = sum(weight.nbytes for weight in made.model.get_weights())
    for weights, part, least in [("float16", 0.49, 19), ("int8", 0.6, 10)]:
        path = exported(tmp_path, made, weights=weights)  # in the place of the other
        assert whole - path.stat().st_size > part * bytes_of_weights
        translate = litert_function(path)
        texts = [translate([sentence])["texts"][0, 0] for sentence in SENTENCES[:20]]
        assert np.sum(np.array(texts) == expected.texts[:, 0].numpy()) >= least


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_zoo(tmp_path, name):
    text = learned([*KINDS][NAMES.index(name) % 4], lowercase=False)
    made = pipeline(name, text, text, models.GREEDY)
    translate = litert_function(exported(tmp_path, made))
    assert check_same(made, translate, SENTENCES) > 20


TEXTS = ["one two three", "two three four"]
SIZES = {"source_length": 9, "target_length": 5}


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


def small_pipeline(**changes):
    text = words()
    made = tiny.translator(text, text, search=ks.Greedy()).pipeline
    return dataclasses.replace(made, **changes)


def quantized():
    model = small_pipeline().model
    model.source_embedding.quantize("int8")
    return model


def half():
    keras.config.set_dtype_policy("mixed_bfloat16")
    return small_pipeline().model


NGRAM, SAMPLE = ks.Greedy(no_repeat_ngram=2), ks.decoding.Sample(seed=1)
# What is changed in a pipeline, by the message after "export_litert ".
UNSUPPORTED = {
    "got a source_text that LiteRT does not support. Expected Characters, Words, "
    "WordPiece or a unigram SentencePiece without byte fallback, with tokens up to 250 "
    "bytes; the source without normalization, received a Words with "
    "normalization='nfc'. Train with one of these, or use Translator.export.": (
        lambda: {"source_text": words(normalization="nfc")}
    ),
    "got a source_text ... a SentencePiece of another kind": lambda: {
        "source_text": ks.text.SentencePiece.learn(TEXTS, 18, kind="bpe")
    },
    "got a source_text ... received a Own": lambda: {"source_text": words(Own)},
    "got a target_text ... received a Own": lambda: {"target_text": words(Own)},
    "got a target_text that LiteRT does not ... a Words with a token of 252 bytes": (
        lambda: {"target_text": ks.text.Words.learn(["é" * 126])}
    ),
    "got a search ... received Sample( ... e.g. translator.with_search(Greedy())": (
        lambda: {"search": SAMPLE}
    ),
    f"got a search that LiteRT does not ... with no_repeat_ngram=0 ... {NGRAM}": (
        lambda: {"search": NGRAM}
    ),
    "cannot replace unknown words ... a dict of 1": lambda: {"unknown": {"one": "1"}},
    "got a model that is quantised already ... received variables of int8 ... before "
    'quantize("int8"), with weights="int8"': lambda: {"model": quantized()},
    "got a model in bfloat16, which LiteRT does not support ... received layers of the "
    "policy mixed_bfloat16 ... model.set_weights(trained.get_weights())": (
        lambda: {"model": half()}
    ),
    "got a model that LiteRT does not support ... received "
    '"Encountered unresolved custom op: Igamma."': lambda: {"model": Unusual()},
}
OPTIONS = [
    ({"source_length": 1}, "an unusable source_length", "an integer, 2 or more"),
    ({"target_length": 0}, "an unusable target_length", "received target_length=0"),
    ({"batch": None}, "an unusable batch", "a positive integer, received batch=None"),
    ({"weights": "bfloat16"}, "an unknown value of weights", "'float16', the nearest"),
]


@pytest.mark.parametrize("text", UNSUPPORTED, ids=lambda text: text[-30:])
def test_what_cannot_be_exported(tmp_path, text):
    made, path = small_pipeline(**UNSUPPORTED[text]()), tmp_path / "older.tflite"
    path.write_bytes(b"older")
    said = f"export_litert {text}"
    call, what, parts = row(lambda: export_litert(made, path, **SIZES), said)
    check_error(call, what, *parts)
    assert [x.read_bytes() for x in tmp_path.iterdir()] == [b"older"]


@pytest.mark.parametrize("options, what, part", OPTIONS)
def test_unusable_options(tmp_path, options, what, part):
    path, options = tmp_path / "x.tflite", {**SIZES, **options}
    call = functools.partial(export_litert, small_pipeline(), path, **options)
    check_error(call, f"export_litert got {what}", part)
    assert not list(tmp_path.iterdir())
