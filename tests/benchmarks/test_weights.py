"""The same weights for all, whatever they compute with."""

import keras
import numpy as np
import pytest

from benchmarks import ours, sizes
from benchmarks.keras_weights import assign, check_complete, joined
from benchmarks.rivals import keras_rnn

SIZE = sizes.Size(3, 5, 7, 11, 13, 17)


@pytest.fixture
def weights():
    return sizes.weights(SIZE)


@pytest.mark.parametrize("made", [ours.compiled, keras_rnn.compiled])
def test_keras(made, weights):
    model, variables = made(SIZE, False)
    assign(variables, weights)
    assert variables.keys() == weights.keys()
    for name, array in weights.items():
        values = keras.tree.map_structure(lambda v: v.value, variables[name])
        np.testing.assert_array_equal(joined(values, array.shape), array)
    del variables["query.kernel"]
    with pytest.raises(ValueError, match="has weights without a name"):
        check_complete(model, variables)


def test_pytorch(weights):
    pytest.importorskip("torch")
    from benchmarks.rivals import torch_seq2seq, torch_weights

    model = torch_seq2seq.torch_seq2seq(weights)  # loads all of them, strictly
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    found = torch_weights.arrays(parameters, weights)
    for name, array in weights.items():
        np.testing.assert_array_equal(found[name], array)


def test_batches():
    source, target, labels = sizes.batch(SIZE)
    assert source.shape == (3, 5) and target.shape == labels.shape == (3, 7)
    assert min(source.min(), target.min(), labels.min()) > 0
    assert (sizes.batch(SIZE)[0] == source).all()  # in every process the same
    source, target, labels = sizes.batch(sizes.REFERENCE, masked=True)
    lengths = (source > 0).sum(axis=1)
    assert lengths.min() == 8 and lengths.max() == 16
    assert ((target > 0) == (labels > 0)).all()
    assert (np.diff((source > 0).astype(int), axis=1) <= 0).all()  # padding at the end
