"""Sources of a `Seq2Seq` that are more than ids: vectors, chains, their own masks."""

import keras
import numpy as np
import pytest
from keras import layers

import keras_seqattn as ks
from keras_seqattn.testing.case import save_and_load
from keras_seqattn.testing.compare import flat, same
from tests.errors.valid_arguments import bahdanau_cell

RNG = np.random.default_rng(4)
MASK = np.arange(6) < np.array([[6], [4], [1]])
TARGET = np.array([[1, 7, 8], [1, 4, 0], [1, 5, 6]])
NUMBERS = RNG.normal(size=(3, 6, 5)).astype("float32")
IDS = np.where(MASK, RNG.integers(4, 9, size=(3, 6)), 0)


def of_vectors():
    return keras.Sequential([keras.Input((None, 5)), layers.Dense(4)])


def with_positions(mask_zero=True):
    ids = keras.Input((None,), dtype="int32")
    embedding = layers.Embedding(9, 4, mask_zero=mask_zero)
    return keras.Sequential([ids, embedding, ks.layers.PositionEmbedding()])


def model(source_embedding, decoder=None):
    return ks.Seq2Seq(
        source_embedding,
        encoder=ks.BiEncoder(3),
        target_embedding=layers.Embedding(9, 4),
        decoder=decoder or ks.AttentionDecoder(bahdanau_cell()),
        head=ks.layers.OutputHead(9),
    )


@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
def test_vectors_are_trained_searched_and_saved(kind):
    decoder = ks.layers.TransformerDecoder(4, layers=1, heads=2)
    made = model(of_vectors(), decoder if kind == "transformer" else None)
    source = {"source": NUMBERS, "source_mask": MASK}
    inputs = {**source, "target": TARGET}
    made.compile(loss="auto")
    made.fit(inputs, np.roll(TARGET, -1, axis=1), verbose=0)
    decoded = ks.decode(made, source, ks.BeamSearch(2), max_length=5)
    scored = ks.decoding.score(made, source, decoded.tokens[:, 0])
    same(flat([scored.scores]), flat([decoded.scores[:, 0]]), 1e-5, "scores")
    hidden = {**inputs, "source": np.where(MASK[..., None], NUMBERS, np.nan)}
    same(flat([made(inputs)]), flat([made(hidden)]), 0, "NaN in the padding")
    same(flat([made(inputs)]), flat([save_and_load(made)(inputs)]), 0, "reloaded")


@pytest.mark.parametrize("mask_zero", [True, False])
def test_a_chain_knows_its_padding(mask_zero):
    made = model(with_positions(mask_zero))
    longer = np.pad(IDS, ((0, 0), (0, 3)))
    logits = [made({"source": ids, "target": TARGET}) for ids in (IDS, longer)]
    same(flat(logits[:1]), flat(logits[1:]), 1e-6, "longer padding")


@pytest.mark.parametrize("chained", [False, True])
def test_a_mask_that_agrees_with_that_of_the_embedding_changes_nothing(chained):
    made = model(
        with_positions() if chained else layers.Embedding(9, 4, mask_zero=True)
    )
    inputs = {"source": IDS, "target": TARGET}
    expected = made(inputs)
    same(flat([expected]), flat([made({**inputs, "source_mask": MASK})]), 0, "equal")


def test_a_mask_of_its_own_comes_before_the_padding():
    made = model(layers.Embedding(10, 4))
    masked = {"source": np.abs(IDS) + 1, "source_mask": MASK, "target": TARGET}
    cut = {"source": np.where(MASK, IDS + 1, 0), "target": TARGET}
    same(flat([made(masked)]), flat([made(cut)]), 1e-6, "source_mask")
