"""Unknown words are replaced by the source words with the largest alignment."""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks

# ONMT sequence_to_sequence_test: testReplaceUnknownTarget.
TARGET = [
    ["Hello", "world", "!", "", "", ""],
    ["<unk>", "name", "is", "<unk>", ".", ""],
]
SENTENCES = [
    ["Bonjour", "le", "monde", "!", ""],
    ["Mon", "nom", "est", "Max", "."],
]
ALIGNMENTS = np.zeros([2, 6, 5], "float32")
ALIGNMENTS[0, :3, :4] = [[0.9, 0.1, 0, 0], [0.2, 0.1, 0.7, 0], [0, 0.1, 0.1, 0.8]]
ALIGNMENTS[1, :5] = [
    [0.8, 0.1, 0.1, 0, 0],
    [0.1, 0.9, 0, 0, 0],
    [0, 0.1, 0.8, 0.1, 0],
    [0.1, 0.1, 0.2, 0.6, 0],
    [0, 0.1, 0.1, 0.3, 0.5],
]
EXPECTED = [
    ["Hello", "world", "!", "", "", ""],
    ["Mon", "name", "is", "Max", ".", ""],
]


def strings(x):
    return np.char.decode(x.numpy().astype(bytes)).tolist()


def test_golden():
    assert (
        strings(ks.decoding.replace_unknown(TARGET, SENTENCES, ALIGNMENTS)) == EXPECTED
    )


def test_n_best():
    """Targets `[batch, n_best, target]`: each hypothesis has its own alignments."""
    other = np.roll(ALIGNMENTS, 1, axis=-1)
    target = np.stack([TARGET, TARGET], axis=1)
    alignments = np.stack([ALIGNMENTS, other], axis=1)
    received = strings(ks.decoding.replace_unknown(target, SENTENCES, alignments))
    assert [row[0] for row in received] == EXPECTED
    assert received[1][1] == ["nom", "name", "is", ".", ".", ""]


def test_heads_count_by_their_mean():
    heads = np.stack([ALIGNMENTS, np.roll(ALIGNMENTS, 1, axis=-1)], axis=1)
    heads = heads * np.array([1.2, 0.8], "float32")[:, None, None]
    assert strings(ks.decoding.replace_unknown(TARGET, SENTENCES, heads)) == EXPECTED
    n_best = np.stack([TARGET, TARGET], axis=1)
    both = np.stack([heads, heads], axis=1)
    received = strings(ks.decoding.replace_unknown(n_best, SENTENCES, both))
    assert [row[1] for row in received] == EXPECTED


def test_padding_is_never_used():
    """Blank source words are not used, either; without others, a word stays unknown."""
    alignments = np.array([[[0.1, 0.3, 0.6]], [[0.0, 0.0, 1.0]], [[0.0, 0.0, 0.0]]])
    source = [["a", "b", ""], ["c", "", ""], ["d", "e", "f"]]
    received = ks.decoding.replace_unknown([["<unk>"]] * 3, source, alignments)
    assert strings(received) == [["b"], ["<unk>"], ["<unk>"]]


def table():
    rows = tf.constant(["Mon", "nom"]), tf.constant(["My", "name"])
    initializer = tf.lookup.KeyValueTensorInitializer(*rows)
    return tf.lookup.StaticHashTable(initializer, default_value="")


@pytest.mark.parametrize(
    "dictionary", [{"Mon": "My", "nom": "name"}, table], ids=["dict", "table"]
)
def test_dictionary(dictionary):
    """Words that the dictionary does not have are copied."""
    if callable(dictionary):
        dictionary = dictionary()
    received = ks.decoding.replace_unknown(
        TARGET, SENTENCES, ALIGNMENTS, dictionary=dictionary
    )
    assert strings(received)[1] == ["My", "name", "is", "Max", ".", ""]


def test_another_word_for_unknown_inside_a_function():
    replace = tf.function(
        lambda *tensors: ks.decoding.replace_unknown(
            *tensors, unknown="?", dictionary={"a": "b"}
        )
    )
    received = replace(tf.constant([["?"]]), tf.constant([["a"]]), tf.ones([1, 1, 1]))
    assert strings(received) == [["b"]]
