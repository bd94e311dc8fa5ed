"""All text processors: strings to ids, ids to strings; also in graphs."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from tensorflow.python.eager import context

import keras_seqattn as ks
from tests.text.learned import ALL, KINDS, OPTIONS, batches, few, learned, strings

TEXTS = ["the cat sat", "", "Ein  Hut \t", b"th\xffe c\xc3", " ", "zz the"]


@pytest.fixture(params=KINDS)
def text(request):
    return learned(request.param)


def test_vocabulary_shapes_and_types(text):
    assert text.vocabulary[:4] == ("<pad>", "<s>", "</s>", "<unk>")
    assert len(text.vocabulary) == text.vocabulary_size == len(set(text.vocabulary))
    assert text.tokens == ks.types.SpecialTokens()
    ids = tf.range(text.vocabulary_size)
    assert tuple(strings(text.pieces(ids))) == text.vocabulary
    ids = text.encode(TEXTS)
    tokens = text.encode_with_offsets(TEXTS)
    assert isinstance(ids, tf.RaggedTensor) and ids.dtype == tf.int32
    assert ids.to_list() == tokens.ids.to_list()
    assert tokens.pieces.to_list() == text.pieces(ids).to_list()
    assert tokens.starts.dtype == tokens.ends.dtype == tf.int64
    for row, each in enumerate(TEXTS):
        one = text.encode_with_offsets(each)
        assert text.encode(each).numpy().tolist() == ids[row].numpy().tolist()
        for alone, batch in zip(one, tokens, strict=True):
            assert alone.numpy().tolist() == batch[row].numpy().tolist()
        assert text.decode(ids[row]).numpy() == text.decode(ids)[row].numpy()
        assert text.normalize(each).numpy() == text.normalize(TEXTS)[row].numpy()


def test_nothing_and_what_is_behind_the_end(text):
    assert text.encode([]).shape[0] == 0
    assert text.encode(["", ""]).to_list() == [[], []]
    assert text.encode("").shape == (0,)
    assert text.encode_with_offsets([]).starts.shape[0] == 0
    assert strings(text.decode([[], []])) == ["", ""]
    assert strings(text.decode(tf.zeros([0, 3], tf.int32))) == []
    assert strings(text.decode(tf.zeros([2, 0], tf.int64))) == ["", ""]
    assert text.decode(tf.zeros([0], tf.int32)).numpy() == b""
    cat = text.encode("cat").numpy().tolist()
    rows = [[1, *cat, 2, *cat], [*cat, 0, 0], [2, *cat], [0, *cat, 2, 2]]
    assert strings(text.decode(rows)) == ["cat", "cat", "", "cat"]
    ids = text.encode(["cat", "hat", "the cat", "sat"])
    dense = ids.to_tensor()
    expected = ["cat", "hat", "the cat", "sat"]
    assert strings(text.decode(dense)) == expected
    assert strings(text.decode(dense.numpy().astype("int64"))) == expected
    square = np.array(text.decode(tf.reshape(dense, [2, 2, -1])))
    assert square.tolist() == [[b"cat", b"hat"], [b"the cat", b"sat"]]
    nested = tf.RaggedTensor.from_row_lengths(ids, [1, 0, 3])
    assert text.decode(nested).to_list() == [[b"cat"], [], [b"hat", b"the cat", b"sat"]]
    beams = tf.RaggedTensor.from_row_lengths(dense, [1, 3])
    assert text.decode(beams).to_list() == [[b"cat"], [b"hat", b"the cat", b"sat"]]


def test_special_tokens_cannot_be_typed_and_unknown_ones_are_shown(text):
    ids = text.encode(["</s> <s> <pad> <unk> a</s>", "<s>", "</s>"])
    assert not np.isin(ids.values, [0, 1, 2]).any()
    ids = text.encode("the \N{CLOWN FACE} cat")
    assert ids.numpy().tolist().count(3) == 1
    assert text.decode(ids).numpy().decode() == "the ⁇ cat"
    assert text.pieces(3).numpy() == b"<unk>"


@pytest.mark.product
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@few
@given(texts=batches)
def test_decode_gives_the_normalised_text(kind, options, texts):
    text = learned(kind, **options)
    ids = text.encode(texts)
    expected = strings(text.normalize(texts))
    for row, back, normal in zip(ids, strings(text.decode(ids)), expected, strict=True):
        assert back == normal or 3 in row


@few
@given(texts=batches)
def test_decode_gives_the_normalised_words(texts):
    words = ks.text.Words.learn([*texts, "a"])
    assert strings(words.decode(words.encode(texts))) == strings(words.normalize(texts))


@given(text=st.text(min_size=1))
def test_all_characters_come_back(text):
    characters = ks.text.Characters.learn([text])
    assert characters.decode(characters.encode(text)).numpy().decode() == text


@few
@given(garbage=st.lists(st.binary(max_size=8), max_size=8))
def test_any_bytes(garbage):
    text = learned("unigram", normalization="nfkc", lowercase=True)
    tokens = text.encode_with_offsets(garbage)
    for raw, ends in zip(garbage, tokens.ends, strict=True):
        assert not len(ends) or 0 <= ends[-1] <= len(raw)
    for normal in text.normalize(garbage).numpy():
        normal.decode()  # valid UTF-8


def test_long_lines(text):
    ids = text.encode(["the cat " * 5000, "a" * 10_000])
    assert strings(text.decode(ids))[0].split() == ["the", "cat"] * 5000


@pytest.mark.product
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_traced_once(kind, options):
    text, traces = learned(kind, **options), []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def run(texts):
        traces.append(texts)
        tokens = text.encode_with_offsets(texts)
        return *tokens, text.decode(tokens.ids), text.decode(tokens.ids.to_tensor())

    for texts in (ALL, ["a"], []):
        *tokens, back, dense_back = run(tf.constant(texts, tf.string))
        eager = text.encode_with_offsets(texts)
        for traced, expected in zip(tokens, eager, strict=True):
            assert traced.to_list() == expected.to_list()
        assert strings(back) == strings(dense_back) == strings(text.decode(eager.ids))
    assert len(traces) == 1


def test_saved_model_needs_no_python(tmp_path):
    """In a process without the library: tests/export/test_new_process.py."""
    processors = {kind: learned(kind) for kind in ("WordPiece", "unigram", "bpe")}
    processors["Words"] = learned("Words", normalization="nfkc", lowercase=True)
    module, signature = tf.Module(), [tf.TensorSpec([None], tf.string)]
    module.processors = processors
    for kind, text in processors.items():
        setattr(module, kind, tf.function(text.encode, input_signature=signature))
    tf.saved_model.save(module, str(tmp_path))
    assert b"PyFunc" not in (tmp_path / "saved_model.pb").read_bytes()
    loaded = tf.saved_model.load(str(tmp_path))
    for kind, text in processors.items():
        assert getattr(loaded, kind)(ALL).to_list() == text.encode(ALL).to_list()


@pytest.mark.parametrize("kind", ["Words", "WordPiece", "unigram"])
def test_survives_seeds_and_cleared_sessions(kind, clear_kernels, monkeypatch):
    monkeypatch.setattr(context.pywrap_tfe, "TFE_ContextClearCaches", clear_kernels)
    text = learned(kind)
    # Both forget what eager operations own: TensorFlow Text's model would be gone.
    traced = tf.function(text.encode)
    before = text.encode(ALL).to_list(), traced(ALL).to_list()
    for forget in (lambda: keras.utils.set_random_seed(1), keras.utils.clear_session):
        forget()
        assert (text.encode(ALL).to_list(), traced(ALL).to_list()) == before
        assert strings(text.decode(before[0][:1])) == ["the cat sat on the mat ."]
