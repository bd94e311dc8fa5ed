"""SentencePiece: its model, its segmentations, and random segmentations."""

import io
import itertools
import tempfile

import pytest
import sentencepiece
import tensorflow as tf

import keras_seqattn as ks
from tests.text.learned import ALL, TEXTS, learned, strings

KINDS = ["unigram", "bpe"]


def reference(text):
    """The same model in the sentencepiece package."""
    return sentencepiece.SentencePieceProcessor(model_proto=text._to_bytes())


@pytest.mark.parametrize("kind", KINDS)
def test_segments_as_the_package_does(kind):
    text = learned(kind)
    assert text.encode(TEXTS).to_list() == reference(text).encode(TEXTS)
    pieces = text.encode_with_offsets(TEXTS).pieces.to_list()
    expected = reference(text).encode(TEXTS, out_type=str)
    for row, other in zip(pieces, expected, strict=True):
        assert b"".join(row).decode() == "".join(other)


@pytest.mark.parametrize("kind", KINDS)
def test_split_text_comes_back_with_its_spaces(kind):
    tokens = "two young , white males are outside near many bushes ."
    text = ks.text.SentencePiece.learn([tokens], 24, kind=kind)
    assert text.decode(text.encode(tokens)).numpy().decode() == tokens
    assert text.decode(text.encode(f" {tokens}  ")).numpy().decode() == tokens


def test_size_is_exact_and_learning_repeats():
    for kind in KINDS:
        models = [ks.text.SentencePiece.learn(ALL, 76, kind=kind) for _ in range(2)]
        assert models[0].vocabulary_size == 76
        assert models[0]._to_bytes() == models[1]._to_bytes()


def test_model_knows_no_path(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model = ks.text.SentencePiece.learn(TEXTS, 49)._to_bytes()
    assert tmp_path.name.encode() not in model and b"rules" not in model


def test_joint_vocabulary():
    text = ks.text.SentencePiece.learn(itertools.chain(["cat"] * 9, ["Hut"] * 9), 11)
    assert {"c", "H"} <= {letter for piece in text.vocabulary for letter in piece}


def test_user_defined_symbols_are_never_split():
    symbols = ["<2de>", "<2en>"]
    text = ks.text.SentencePiece.learn(TEXTS, 50, user_defined_symbols=symbols)
    assert text.vocabulary[4:6] == tuple(symbols)
    pieces = strings(text.pieces(text.encode("<2de> the cat<2en>")))
    assert pieces[:2] == ["▁", "<2de>"] and pieces[-1] == "<2en>"


def test_character_coverage():
    texts = ["ab" * 100, "ab" * 100, "c"]
    assert "c" in ks.text.SentencePiece.learn(texts, 8).vocabulary
    rare = ks.text.SentencePiece.learn(texts, 7, character_coverage=0.99)
    assert "c" not in rare.vocabulary


def test_model_with_its_own_normalisation():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the ﬁsh"] * 3),
        model_writer=model,
        vocab_size=12,
        pad_id=0,
        bos_id=1,
        eos_id=2,
        unk_id=3,
        minloglevel=2,
    )
    text = ks.text.SentencePiece(model.getvalue())
    tokens = text.encode_with_offsets("ﬁ the")
    assert text.decode(tokens.ids).numpy() == b"fi the"
    assert tokens.ends[-1] == len("ﬁ the".encode())


@pytest.mark.parametrize("kind", KINDS)
def test_samples(kind):
    text = learned(kind, alpha=0.5)
    texts = TEXTS[:2] * 20
    first, second = (text.encode(texts, sample=True) for _ in range(2))
    assert first.to_list() != second.to_list()
    expected = strings(text.normalize(texts))
    assert strings(text.decode(first)) == strings(text.decode(second)) == expected
    assert text.encode(TEXTS[0], sample=True).shape.rank == 1
    assert text.encode(texts).to_list() == text.encode(texts).to_list()


def test_samples_have_no_seed():
    # Should this fail one day, there is a seed: the docstring says there is none.
    text, drawn = learned("unigram"), []
    for _ in range(2):
        tf.random.set_seed(3)
        drawn.append(text.encode(TEXTS * 20, sample=True).to_list())
    assert drawn[0] != drawn[1]


def test_samples_anew_inside_a_graph():
    text = learned("unigram")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def twice(texts):
        return text.encode(texts, sample=True), text.encode(texts, sample=True)

    first, second = twice(TEXTS * 10)
    assert first.to_list() != second.to_list()
    dataset = tf.data.Dataset.from_tensors(TEXTS * 10).repeat(2)
    sampled = dataset.map(lambda texts: text.encode(texts, sample=True))
    epochs = [ids.to_list() for ids in sampled]
    assert epochs[0] != epochs[1]


def test_few_best_segmentations():
    model = learned("unigram")._to_bytes()
    two = ks.text.SentencePiece(model, nbest_size=2, alpha=0.0)
    drawn = two.encode(["the cat sat"] * 50, sample=True).to_list()
    best = reference(two).nbest_encode("the cat sat", nbest_size=2)
    assert {tuple(ids) for ids in drawn} == {tuple(ids) for ids in best}
