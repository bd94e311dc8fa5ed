"""Encoding of pairs, and its cache, which knows its texts and processors."""

import os

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn import data
from keras_seqattn.data import encoding
from tests.data.fakes import Letters

PAIRS = data.Pairs(["abc", "", "d"], ["x", "yz", ""])


def same(first, second):
    assert first.source_tokens == second.source_tokens
    assert first.target_tokens == second.target_tokens
    one, two = ([*encoded.source, *encoded.target] for encoded in (first, second))
    arrays = zip(one, two, strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in arrays)


def test_ids_of_both_sides_and_of_nothing(monkeypatch):
    tokens = ks.types.SpecialTokens(unknown=7)
    whole = data.encode(PAIRS, Letters(), Letters(1, tokens))
    assert whole.source.values.tolist() == [4, 5, 6, 7]
    assert whole.source.splits.tolist() == [0, 3, 3, 4]
    assert whole.target.values.tolist() == [28, 29, 30]
    assert whole.target.lengths.tolist() == [1, 2, 0]
    assert (whole.source_tokens, whole.target_tokens) == (Letters().tokens, tokens)
    assert whole.source.values.dtype == np.int32
    assert whole.source.splits.dtype == np.int64
    assert repr(whole) == "EncodedPairs(3 pairs: 4 -> 3 tokens)"
    monkeypatch.setattr(encoding, "_CHUNK", 2)
    assert same(data.encode(PAIRS, Letters(), Letters(1, tokens)), whole)
    encoded = data.encode(PAIRS[:0], Letters(), Letters())
    assert (len(encoded), len(encoded.source.values)) == (0, 0)
    assert len(encoded.select(np.zeros(0, int))) == 0


def test_cache_spares_the_work(tmp_path):
    path = tmp_path / "new" / "ids.npz"
    pairs = data.Pairs(["ab"] * 3000, ["x"] * 3000)
    first = data.encode(pairs, Letters(), Letters(1), cache=path)
    assert os.listdir(path.parent) == ["ids.npz"]
    source_text, target_text = Letters(), Letters(1)
    again = data.encode(pairs, source_text, target_text, cache=path)
    assert same(first, again)
    assert max(source_text.encoded, target_text.encoded) <= encoding._PROBE


class Other(Letters):
    vocabulary = ("a", "b")


@pytest.mark.parametrize(
    "pairs, source_text, target_text",
    [
        (data.Pairs(["abd", "", "d"], PAIRS.target), Letters(), Letters()),
        (data.Pairs(["ab", "c", "d"], PAIRS.target), Letters(), Letters()),
        (data.Pairs(PAIRS.target, PAIRS.source), Letters(), Letters()),
        *[(PAIRS[:2], Letters(), Letters()), (PAIRS, Letters(1), Letters())],
        *[(PAIRS, Letters(), Letters(1)), (PAIRS, Letters(), Other())],
        (PAIRS, Letters(), Letters(tokens=ks.types.SpecialTokens(end=9))),
    ],
)
def test_stale_cache_is_written_anew(tmp_path, pairs, source_text, target_text):
    path = tmp_path / "ids.npz"
    data.encode(PAIRS, Letters(), Letters(), cache=path)
    fresh = data.encode(pairs, source_text, target_text)
    assert same(data.encode(pairs, source_text, target_text, cache=path), fresh)
    source_text.encoded = 0
    assert same(data.encode(pairs, source_text, target_text, cache=path), fresh)
    assert source_text.encoded == len(pairs)  # the probe; it was not encoded again


def test_another_vocabulary_is_another_processor(tmp_path):
    path = tmp_path / "ids.npz"
    text = Other()
    data.encode(PAIRS, text, text, cache=path)
    before = path.read_bytes()
    data.encode(PAIRS, text, text, cache=path)
    assert path.read_bytes() == before
    text.vocabulary = ("a", "b", "c")
    data.encode(PAIRS, text, text, cache=path)
    assert path.read_bytes() != before


def test_full_disk_keeps_the_old_cache(tmp_path, monkeypatch):
    path = tmp_path / "ids.npz"
    data.encode(PAIRS, Letters(), Letters(), cache=path)
    before = path.read_bytes()

    def full(file, **arrays):
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        data.encode(PAIRS[:1], Letters(), Letters(), cache=path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["ids.npz"]


def test_processor_may_be_a_graph():
    class Graph(Letters):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def encode(self, texts):
            return tf.strings.unicode_decode(texts, "UTF-8") - ord("a") + 4

    expected = data.encode(PAIRS, Letters(), Letters())
    assert same(data.encode(PAIRS, Graph(), Graph()), expected)
