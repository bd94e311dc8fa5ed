"""Word vectors from files of word2vec, GloVe and fastText."""

import gzip

import numpy as np
import pytest

from keras_seqattn.text import Words, word_vectors

VOCABULARY = Words.learn(["zebra école zebra tree a b c"]).vocabulary
LINES = "zebra 1 2.5\nother x y\n. . . 3 4\nécole -1e-1 0.5 \r\nzebra 9 9\n</s> 0 1\n"


@pytest.mark.parametrize("start", ["", "6 2\n", "\ufeff6 2\n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_vectors_of_a_vocabulary(tmp_path, start, pack):
    path = tmp_path / "vectors"
    path.write_bytes(pack((start + LINES).encode()))
    matrix, found = word_vectors(path, VOCABULARY, 2)
    assert matrix.dtype == np.float32 and matrix.shape == (len(VOCABULARY), 2)
    rows = {w: row for w, row, f in zip(VOCABULARY, matrix, found, strict=True) if f}
    assert {word: row.tolist() for word, row in rows.items()} == {
        "zebra": [1, 2.5],
        "école": [np.float32(-0.1), 0.5],
        "</s>": [0, 1],
    }
    again, other = (word_vectors(path, VOCABULARY, seed=n).matrix for n in (0, 1))
    assert np.array_equal(matrix, again)
    assert (other != matrix).any(axis=1).tolist() == (~found).tolist()


def test_other_rows_have_the_same_mean_and_scale(tmp_path):
    path, draw = tmp_path / "vectors", np.random.default_rng(0)
    words = [f"w{i}" for i in range(200)]
    known = draw.normal(3, 0.2, (100, 20))
    lines = (
        f"{w} {' '.join(map(str, x))}\n"
        for w, x in zip(words[:100], known, strict=True)
    )
    path.write_text("".join(lines))
    drawn = word_vectors(path, words).matrix[100:]
    assert np.mean(drawn) == pytest.approx(3, abs=0.02)
    assert np.std(drawn) == pytest.approx(0.2, rel=0.05)
