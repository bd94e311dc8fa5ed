"""Checkpoints are complete or absent, also when the disk is full."""

import contextlib
import errno
import warnings

import keras
import numpy as np
import pytest

from keras_seqattn.callbacks.final_weights import final_weights
from keras_seqattn.files import is_whole
from keras_seqattn.models.checkpoint import load_weights, save_weights
from tests.callbacks.translators import Scripted, validation
from tests.file_size import file_size_limit
from tests.raised import check_message

UNITS = 50_000  # 0.2 MB of weights


def weights_in(path, units=UNITS):
    fresh = Scripted(units=units)
    load_weights(fresh.model, path)
    return fresh.weight


def test_optimizer_stays_outside(tmp_path):
    translator, path = Scripted(1, 2), tmp_path / "a.weights.h5"
    translator.fit(validation(translator), epochs=1)
    optimizer = translator.model.optimizer
    save_weights(translator.model, path)
    assert translator.model.optimizer is optimizer
    assert weights_in(path, units=1) == 1.0
    translator.fit(validation(translator), epochs=1)
    load_weights(translator.model, path)
    assert translator.weight == 1.0 and int(optimizer.iterations) == 2


def test_weights_that_do_not_fit_on_the_disk(tmp_path):
    translator, path = Scripted(units=UNITS), tmp_path / "a.weights.h5"
    save_weights(translator.model, path)
    translator.model.set_weights([np.ones((1, UNITS))])
    with pytest.raises(OSError) as caught, file_size_limit(100_000):
        save_weights(translator.model, path)
    assert caught.value.errno == errno.EFBIG
    assert weights_in(path) == 0.0 and is_whole(path)
    assert {x.name for x in tmp_path.iterdir()} == {path.name, f"{path.name}.sha256"}
    save_weights(translator.model, path)  # there is room again
    assert weights_in(path) == 1.0


def test_training_goes_on_when_the_disk_is_full(tmp_path):
    class Disk(keras.callbacks.Callback):
        """Full in the second epoch."""

        def on_epoch_begin(self, epoch, logs=None):
            self.limit = file_size_limit(100_000 if epoch == 1 else -1)
            self.limit.__enter__()

        def on_epoch_end(self, epoch, logs=None):
            self.limit.__exit__(None, None, None)
            best.append(weights_in(tmp_path / "best.weights.h5"))

    best, translator = [], Scripted(3, 5, 4, units=UNITS)
    callback = validation(translator, folder=tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        translator.fit(callback, epochs=3, callbacks=[Disk()])
    # What could not be saved is not the best one: the third one is.
    assert best == [1.0, 1.0, 3.0] and translator.weight == 3.0
    assert [entry["best"] for entry in callback.record.entries] == [True, False, True]
    [warning] = [w for w in caught if w.category is RuntimeWarning]
    rest = f"{str(tmp_path / 'best.weights.h5')!r}, received File too large. Make room"
    what = "Validation could not save its best weights"
    check_message(str(warning.message), what, rest)


@pytest.mark.parametrize("momentum", [None, 0.9])
def test_final_weights(momentum):
    options = {} if momentum is None else {"use_ema": True, "ema_momentum": momentum}
    model = keras.Sequential([keras.Input((30,)), keras.layers.Dense(20)])
    model.compile(keras.optimizers.SGD(0.1, **options), "mse")
    rng, inside, after = np.random.default_rng(0), [], []

    def look(*_):
        before = model.get_weights()
        with final_weights(model):
            inside.append(model.get_weights())
        after.append(model.get_weights())
        assert all(map(np.array_equal, before, after[-1]))

    x, y = rng.normal(size=(8, 30)), rng.normal(size=(8, 20))
    # At the beginning there is no average yet.
    looks = keras.callbacks.LambdaCallback(on_train_begin=look, on_epoch_end=look)
    model.fit(x, y, epochs=3, callbacks=[looks], verbose=0)
    assert all(map(np.array_equal, inside[0], after[0]))
    assert all(map(np.array_equal, inside[-1], model.get_weights()))
    assert np.array_equal(inside[-1][0], after[-1][0]) == (momentum is None)


def test_final_weights_after_an_error():
    translator = Scripted(optimizer=keras.optimizers.SGD(1.0, use_ema=True))
    seen = []

    def fail(batch, logs):
        seen.append(translator.weight)
        with contextlib.suppress(KeyboardInterrupt), final_weights(translator.model):
            raise KeyboardInterrupt
        assert translator.weight == seen[-1]

    translator.fit(keras.callbacks.LambdaCallback(on_train_batch_end=fail), 1, steps=3)
    assert seen == [1.0, 2.0, 3.0]
