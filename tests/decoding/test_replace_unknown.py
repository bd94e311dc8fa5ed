"""Unknown words are replaced by the source words with the largest alignment."""

import functools

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks

# ONMT sequence_to_sequence_test: testReplaceUnknownTarget.
UNKNOWN = ["<unk>", "name", "is", "<unk>", ".", ""]
TARGET = [["Hello", "world", "!", "", "", ""], UNKNOWN]
SENTENCES = [["Bonjour", "le", "monde", "!", ""], ["Mon", "nom", "est", "Max", "."]]
TENTHS = [[8, 1, 1, 0, 0], [1, 9, 0, 0, 0], [0, 1, 8, 1, 0], [1, 1, 2, 6, 0]]
ALIGNMENTS = np.zeros([2, 6, 5], "float32")
ALIGNMENTS[0, :3, :4] = [[0.9, 0.1, 0, 0], [0.2, 0.1, 0.7, 0], [0, 0.1, 0.1, 0.8]]
ALIGNMENTS[1, :5] = np.array([*TENTHS, [0, 1, 1, 3, 5]]) / 10
EXPECTED = [TARGET[0], ["Mon", "name", "is", "Max", ".", ""]]


def replaced(target, alignments, source=SENTENCES, **options):
    received = ks.decoding.replace_unknown(target, source, alignments, **options)
    return np.char.decode(received.numpy().astype(bytes)).tolist()


def test_golden_n_best_and_heads():
    assert replaced(TARGET, ALIGNMENTS) == EXPECTED
    # Targets `[batch, n_best, target]`: each hypothesis has its own alignments.
    target = np.stack([TARGET, TARGET], axis=1)
    alignments = np.stack([ALIGNMENTS, np.roll(ALIGNMENTS, 1, axis=-1)], axis=1)
    received = replaced(target, alignments)
    assert [row[0] for row in received] == EXPECTED
    assert received[1][1] == ["nom", "name", "is", ".", ".", ""]
    heads = np.stack([1.2 * ALIGNMENTS, 0.8 * np.roll(ALIGNMENTS, 1, axis=-1)], axis=1)
    assert replaced(TARGET, heads) == EXPECTED
    n_best, both = np.stack([TARGET, TARGET], axis=1), np.stack([heads, heads], axis=1)
    assert [row[1] for row in replaced(n_best, both)] == EXPECTED


def test_padding_is_never_used():
    """Blank source words are not used, either; without others, a word stays unknown."""
    alignments = np.array([[[0.1, 0.3, 0.6]], [[0.0, 0.0, 1.0]], [[0.0, 0.0, 0.0]]])
    source = [["a", "b", ""], ["c", "", ""], ["d", "e", "f"]]
    received = replaced([["<unk>"]] * 3, alignments, source)
    assert received == [["b"], ["<unk>"], ["<unk>"]]


def table():
    rows = [tf.constant(x) for x in (["Mon", "nom"], ["My", "name"])]
    initializer = tf.lookup.KeyValueTensorInitializer(*rows)
    return tf.lookup.StaticHashTable(initializer, default_value="")


@pytest.mark.parametrize("dictionary", [{"Mon": "My", "nom": "name"}, table])
def test_dictionary(dictionary):
    if callable(dictionary):
        dictionary = dictionary()
    received = replaced(TARGET, ALIGNMENTS, dictionary=dictionary)
    assert received[1] == ["My", "name", "is", "Max", ".", ""]


def test_another_word_for_unknown_inside_a_function():
    options = {"unknown": "?", "dictionary": {"a": "b"}}
    replace = functools.partial(ks.decoding.replace_unknown, **options)
    texts = tf.constant([["?"]]), tf.constant([["a"]])
    received = tf.function(replace)(*texts, tf.ones([1, 1, 1]))
    assert received.numpy().tolist() == [[b"b"]]
