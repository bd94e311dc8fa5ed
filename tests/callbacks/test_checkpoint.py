"""Checkpoints are complete or absent, also when the disk is full."""

import contextlib
import errno
import shutil
import subprocess
import sys
import warnings

import keras
import numpy as np
import pytest

from keras_seqattn.callbacks.final_weights import final_weights
from keras_seqattn.files import is_whole
from keras_seqattn.models.checkpoint import load_weights, save_weights
from tests.callbacks.translators import Scripted, validation
from tests.file_size import file_size_limit

UNITS = 50_000  # 0.2 MB of weights


def weights_in(path, units=UNITS):
    fresh = Scripted(units=units)
    load_weights(fresh.model, path)
    return fresh.weight


# Weights ------------------------------------------------------------------------------


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
    assert sorted(x.name for x in tmp_path.iterdir()) == [
        path.name,
        f"{path.name}.sha256",
    ]
    save_weights(translator.model, path)  # there is room again
    assert weights_in(path) == 1.0


# A training on it ---------------------------------------------------------------------


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
    assert str(warning.message) == (
        "Validation could not save its best weights. Expected to write "
        f"{str(tmp_path / 'best.weights.h5')!r}, received File too large. Make "
        "room: the training continues, and what was saved before is unchanged."
    )


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.parametrize("size, best", [("1000k", 1.0), ("4m", 4.0)])
def test_on_a_file_system_that_is_really_full(tmp_path, size, best):
    """The last save has room again or not; the process ends without an error."""
    mount = f"mount -t tmpfs -o size={size} tmpfs {tmp_path}"
    isolated = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if not shutil.which("unshare") or subprocess.run([*isolated, mount]).returncode:
        pytest.skip("may not mount a file system here")
    program = f"{sys.executable} -m tests.callbacks.full_disk {tmp_path}"
    done = subprocess.run(
        [*isolated, f"{mount} && {program}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == f"best on disk [1.0, 1.0, 1.0, {best}]"
    assert "received No space left on device. Make room" in done.stdout
    assert "steps [1, 2, 3, 4]\nleft []\n" in done.stdout


# The weights that a training leaves behind --------------------------------------------


@pytest.mark.parametrize("momentum", [None, 0.9])
def test_final_weights(momentum):
    """They equal Keras's weights after `fit`; afterwards the old ones are restored."""
    options = {} if momentum is None else {"use_ema": True, "ema_momentum": momentum}
    model = keras.Sequential([keras.Input((30,)), keras.layers.Dense(20)])
    model.compile(keras.optimizers.SGD(0.1, **options), "mse")
    rng, inside, after = np.random.default_rng(0), [], []

    class Look(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            self.check()  # no step, no average

        def on_epoch_end(self, epoch, logs=None):
            self.check()

        def check(self):
            before = model.get_weights()
            with final_weights(model):
                inside.append(model.get_weights())
            after.append(model.get_weights())
            assert all(map(np.array_equal, before, after[-1]))

    x, y = rng.normal(size=(8, 30)), rng.normal(size=(8, 20))
    model.fit(x, y, epochs=3, callbacks=[Look()], verbose=0)
    assert all(map(np.array_equal, inside[0], after[0]))
    assert all(map(np.array_equal, inside[-1], model.get_weights()))
    assert np.array_equal(inside[-1][0], after[-1][0]) == (momentum is None)


def test_final_weights_after_an_error():
    translator = Scripted(optimizer=keras.optimizers.SGD(1.0, use_ema=True))
    x = np.ones((3, 1))
    seen = []

    class Fail(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append(translator.weight)
            with contextlib.suppress(KeyboardInterrupt), final_weights(self.model):
                raise KeyboardInterrupt
            assert translator.weight == seen[-1]

    translator.model.fit(x, x, batch_size=1, callbacks=[Fail()], verbose=0)
    assert seen == [1.0, 2.0, 3.0]
