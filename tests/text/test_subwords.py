"""SentencePiece, its model and its random segmentations; WordPiece, greedy pieces."""

import itertools
import tempfile

import pytest
import sentencepiece
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import keras_seqattn as ks
from tests.text.learned import ALL, TEXTS, foreign_model, learned, strings

KINDS = ["unigram", "bpe"]


def reference(text):
    return sentencepiece.SentencePieceProcessor(model_proto=text._to_bytes())


@pytest.mark.parametrize("kind", KINDS)
def test_segments_as_the_package_does_and_spaces_come_back(kind):
    text = learned(kind)
    assert text.encode(TEXTS).to_list() == reference(text).encode(TEXTS)
    pieces = text.encode_with_offsets(TEXTS).pieces.to_list()
    expected = reference(text).encode(TEXTS, out_type=str)
    for row, other in zip(pieces, expected, strict=True):
        assert b"".join(row).decode() == "".join(other)
    tokens = "two young , white males are outside near many bushes ."
    text = ks.text.SentencePiece.learn([tokens], 24, kind=kind)
    assert text.decode(text.encode(tokens)).numpy().decode() == tokens
    assert text.decode(text.encode(f" {tokens}  ")).numpy().decode() == tokens


def test_size_is_exact_learning_repeats_and_knows_no_path(tmp_path, monkeypatch):
    for kind in KINDS:
        models = [ks.text.SentencePiece.learn(ALL, 76, kind=kind) for _ in range(2)]
        assert models[0].vocabulary_size == 76
        assert models[0]._to_bytes() == models[1]._to_bytes()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model = ks.text.SentencePiece.learn(TEXTS, 49)._to_bytes()
    assert tmp_path.name.encode() not in model and b"rules" not in model


def test_joint_vocabulary_with_symbols_of_the_user():
    text = ks.text.SentencePiece.learn(itertools.chain(["cat"] * 9, ["Hut"] * 9), 11)
    assert {"c", "H"} <= {letter for piece in text.vocabulary for letter in piece}
    symbols = ["<2de>", "<2en>"]
    text = ks.text.SentencePiece.learn(TEXTS, 50, user_defined_symbols=symbols)
    assert text.vocabulary[4:6] == tuple(symbols)
    pieces = strings(text.pieces(text.encode("<2de> the cat<2en>")))
    assert pieces[:2] == ["▁", "<2de>"] and pieces[-1] == "<2en>"


def test_character_coverage_and_a_model_with_its_own_normalisation():
    texts = ["ab" * 100, "ab" * 100, "c"]
    assert "c" in ks.text.SentencePiece.learn(texts, 8).vocabulary
    rare = ks.text.SentencePiece.learn(texts, 7, character_coverage=0.99)
    assert "c" not in rare.vocabulary
    ids = {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3}
    text = ks.text.SentencePiece(foreign_model("the ﬁsh", 12, **ids))
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


PIECES = ["▁", "▁un", "▁unable", "a", "ab", "b", "le", "l", "e", "un", "n", "u", "##b"]


def longest_first(word, pieces):
    """Greedy by definition; None where a piece is missing."""
    rest, found = "▁" + word, []
    while rest:
        fits = [piece for piece in pieces if rest.startswith(piece)]
        if not fits:
            return ["<unk>"]
        found.append(max(fits, key=len))
        rest = rest[len(found[-1]) :]
    return found


@given(words=st.lists(st.text(st.sampled_from("unable#x"), min_size=1, max_size=9)))
def test_longest_piece_first(words):
    text = ks.text.WordPiece(["<pad>", "<s>", "</s>", "<unk>", *PIECES])
    expected = [piece for word in words for piece in longest_first(word, PIECES)]
    assert strings(text.pieces(text.encode(" ".join(words)))) == expected


def test_punctuation_comes_back_and_an_unknown_word_is_one_token():
    raw = "the cat's hat, (the) bat!"
    text = ks.text.WordPiece.learn([raw], 40)
    assert text.decode(text.encode(raw)).numpy().decode() == raw
    text = learned("WordPiece")
    tokens = text.encode_with_offsets("the cЖt sat")
    assert tokens.ids.numpy().tolist().count(3) == 1
    at = tokens.ids.numpy().tolist().index(3)
    assert (tokens.starts[at], tokens.ends[at]) == (4, 8)


def test_all_characters_and_frequent_words_within_the_size():
    text, again = (ks.text.WordPiece.learn(["aab aab aab aac"] * 5, 10) for _ in "ab")
    assert {"a", "b", "c", "▁", "▁aab"} <= set(text.vocabulary)
    assert text.vocabulary_size <= 10
    assert text.vocabulary == again.vocabulary
    for size in (80, 90, 120):
        assert ks.text.WordPiece.learn(ALL, size).vocabulary_size <= size
