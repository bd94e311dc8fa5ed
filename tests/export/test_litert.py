"""A translator in one LiteRT file: the same answers, and clear errors."""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn import zoo
from keras_seqattn.export.litert import export_litert
from keras_seqattn.export.litert_run import litert_function
from keras_seqattn.export.litert_text import reader, writer
from tests.export import models
from tests.zoo.rows import NAMES

SENTENCES = models.sentences(200)
ODD = [
    "",
    "   ",
    "zzz",
    " a  bc\t",
    "\u00c9A",
    "日本 ab",
    "x" * 30,
    "a\u00a0b",
    "\U0001f600",
]
BYTES = [b"a\xff\xe2\x82b c\xc3", b"\xf0\x9f\x98", b"\xed\xa0\x80z", b"a\0b", b"\0 \0a"]
SOURCE, TARGET = 12, 9
CUT = " ".join(["abcd"] * 20)


def strange(count):
    """Letters in small and large, known and unknown ones, all kinds of spaces."""
    random = np.random.default_rng(3)
    letters = [*"abcdéfghABCDÉFGHİẞx▁  \t\u00a0\u2003\u3000\x1c\v", "日", "\U0001f600"]
    return ["".join(random.choice(letters, random.integers(25))) for _ in range(count)]


def pipeline(name, source, target, search, max_length=TARGET):
    sizes = source.vocabulary_size, target.vocabulary_size
    model = getattr(zoo, name)(
        "small", source_vocabulary=sizes[0], target_vocabulary=sizes[1]
    )
    models.enliven(model)
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
    assert [path.name for path in tmp_path.iterdir()] == ["translator.tflite"]


def test_with_a_beam_from_subwords_to_subwords(tmp_path):
    text = ks.text.SentencePiece.learn(SENTENCES, 40)
    search = ks.BeamSearch(3, n_best=2, length_penalty=0.8, coverage_penalty=0.1)
    made = pipeline("gnmt2016", text, text, search)
    translate = litert_function(exported(tmp_path, made))
    assert check_same(made, translate, [*SENTENCES[:8], *ODD, CUT]) > 10


def learned(kind, lowercase):
    if kind is ks.text.SentencePiece:
        return kind.learn(SENTENCES, 40, lowercase=lowercase)
    size = {ks.text.WordPiece: 60, ks.text.Words: 100, ks.text.Characters: 11}[kind]
    return kind.learn(SENTENCES, size, lowercase=lowercase)


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize(
    "kind",
    [ks.text.Characters, ks.text.Words, ks.text.WordPiece, ks.text.SentencePiece],
)
def test_texts_are_read_and_written_as_ever(kind, lowercase):
    """The same operations in TensorFlow: quicker than to convert them all."""
    text = learned(kind, lowercase)
    read, write = reader(text, SOURCE), writer(text)
    given = [*strange(300), *ODD, *BYTES, "\v\x1c\x85", "x" * 300, "x " * 300]
    expected = [
        [*ids[: SOURCE - 1], text.tokens.end] for ids in text.encode(given).to_list()
    ]
    found = read(tf.constant(given))
    lengths = found.lengths.numpy()
    ids = [
        row[:size].tolist()
        for row, size in zip(found.ids.numpy(), lengths, strict=True)
    ]
    assert ids == expected
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
        same = [
            a == b for a, b in zip(texts, expected.texts[:, 0].numpy(), strict=True)
        ]
        assert sum(same) >= least


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_zoo(tmp_path, name):
    kinds = ks.text.Characters, ks.text.Words, ks.text.WordPiece, ks.text.SentencePiece
    text = learned(kinds[NAMES.index(name) % 4], lowercase=False)
    made = pipeline(name, text, text, models.GREEDY)
    translate = litert_function(exported(tmp_path, made))
    assert check_same(made, translate, SENTENCES) > 20
