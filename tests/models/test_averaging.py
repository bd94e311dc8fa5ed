"""Averages of checkpoints, also if one of the files is bad."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks


class Counter(keras.layers.Layer):
    """A layer with an integer weight."""

    def build(self, shape):
        self.calls = self.add_weight(
            shape=(), dtype="int64", initializer="zeros", trainable=False
        )

    def call(self, inputs):
        self.calls.assign_add(1)
        return inputs


def make(units=2, compiled=False):
    model = keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(units),
            keras.layers.BatchNormalization(),
            Counter(),
        ]
    )
    if compiled:
        model.compile("adam", "mse")
    return model


def fit(model, epochs=1):
    x, y = np.ones((4, 3), "float32"), np.ones((4, 2), "float32")
    model.fit(x, y, epochs=epochs, verbose=0)


def values(model):
    return [variable.numpy() for variable in model.variables]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return three checkpoints of one training in both formats, and their weights."""
    folder = tmp_path_factory.mktemp("checkpoints")
    model, paths, saved = make(compiled=True), [], []
    for i in range(3):
        fit(model)
        paths.append(folder / (f"{i}.weights.h5" if i else f"{i}.keras"))
        (model.save_weights if i else model.save)(paths[-1])
        saved.append(values(model))
    return paths, saved


@pytest.mark.parametrize("compiled", [False, True])
def test_mean(trained, compiled):
    paths, saved = trained
    model = make(compiled=compiled)
    ks.models.average_checkpoints(model, paths)
    for i, variable in enumerate(model.variables):
        if variable.dtype == "float32":
            expected = np.mean([s[i].astype("float64") for s in saved], axis=0)
            np.testing.assert_allclose(variable.numpy(), expected, rtol=1e-6)
        else:  # the counter
            assert np.array_equal(variable.numpy(), saved[-1][i])
    assert any(variable.dtype == "int64" for variable in model.variables)


def test_one_file_is_that_file(trained):
    paths, saved = trained
    model = make()
    ks.models.average_checkpoints(model, iter(paths[1:2]))
    assert all(map(np.array_equal, values(model), saved[1]))


def test_optimizer_keeps_its_state(trained):
    paths, _ = trained
    model = make(compiled=True)
    fit(model, epochs=2)
    optimizer = model.optimizer
    before = [variable.numpy() for variable in optimizer.variables]
    ks.models.average_checkpoints(model, paths)
    assert model.optimizer is optimizer
    after = [variable.numpy() for variable in optimizer.variables]
    assert all(map(np.array_equal, before, after))
    fit(model)  # training continues


def test_sum_is_taken_in_float64(tmp_path):
    """A sum in float16 would overflow and lose digits."""
    model = keras.Sequential(
        [keras.Input((1,)), keras.layers.Dense(1, use_bias=False, dtype="float16")]
    )
    paths = [tmp_path / f"{i}.weights.h5" for i in range(3)]
    for path, value in zip(paths, (60000.0, 60000.0, 59904.0), strict=True):
        model.set_weights([np.array([[value]], "float16")])
        model.save_weights(path)
    ks.models.average_checkpoints(model, paths)
    assert model.get_weights()[0] == np.float16((2 * 60000.0 + 59904.0) / 3)


@pytest.mark.parametrize("bad", ["shape", "zip", "h5", "text"])
@pytest.mark.parametrize("compiled", [False, True])
def test_bad_file_loses_nothing(trained, tmp_path, bad, compiled):
    paths, _ = trained
    path = tmp_path / f"bad.{ {'zip': 'keras', 'text': 'txt'}.get(bad, 'weights.h5') }"
    if bad == "shape":
        make(units=5).save_weights(path)
    else:
        path.write_text("no checkpoint")
    model = make(compiled=compiled)
    before = values(model)
    with pytest.raises(
        ValueError, match="a file that does not fit the model"
    ) as caught:
        ks.models.average_checkpoints(model, [paths[0], path])
    assert caught.value.__cause__ is not None and str(path) in str(caught.value)
    assert all(map(np.array_equal, values(model), before))
    assert (getattr(model, "optimizer", None) is not None) == compiled


def test_missing_file_loses_nothing(trained, tmp_path):
    model = make()
    before = values(model)
    with pytest.raises(ValueError, match="paths that do not exist"):
        ks.models.average_checkpoints(
            model, [trained[0][0], tmp_path / "none.weights.h5"]
        )
    assert all(map(np.array_equal, values(model), before))
