"""DivergenceGuard: it stops a diverging training, or undoes the last steps."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks


def made(learning_rate=0.1, optimizer=keras.optimizers.SGD):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile(optimizer(learning_rate), "mse")
    return model


def data(bad=(), steps=8, value=np.nan):
    """One row a step; those of some steps are spoilt."""
    x = np.linspace(1, 2, steps, dtype="float32")[:, None]
    y = 3 * x + 1
    for step in bad:
        y[step] = value
    return x, y


def fit(model, guard, x, y, epochs=1, others=()):
    return model.fit(
        *(x, y),
        batch_size=1,
        epochs=epochs,
        shuffle=False,
        callbacks=[*others, guard],
        verbose=0,
    ).history


@pytest.mark.parametrize("value, received", [(np.nan, "nan"), (np.inf, "inf")])
def test_stops_at_the_step(value, received):
    model = made()
    with pytest.raises(FloatingPointError) as error:
        fit(model, ks.callbacks.DivergenceGuard(), *data([3], value=value))
    assert f"received a loss of {received} in step 4 of epoch 1" in str(error.value)
    assert "in step 3. Lower the learning rate" in str(error.value)


def test_stops_when_the_loss_explodes():
    """The loss stays finite, so Keras's TerminateOnNaN does not stop."""
    model = made(20.0)
    with pytest.raises(FloatingPointError, match="100 times the first loss, rec"):
        fit(model, ks.callbacks.DivergenceGuard(), *data())
    assert all(np.isfinite(weight).all() for weight in model.get_weights())


def test_weights_that_the_last_step_spoils():
    """No later loss shows it, so the guard checks the weights."""

    class Spoil(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 7:
                self.model.set_weights([w * np.nan for w in self.model.get_weights()])

    model, (x, y) = made(), data()
    callbacks = [Spoil(), ks.callbacks.DivergenceGuard()]
    with pytest.raises(FloatingPointError, match="weights that are not finite in step"):
        model.fit(x, y, batch_size=1, callbacks=callbacks, verbose=0)


def test_a_good_training_is_left_alone():
    weights = []
    for callbacks in (
        [],
        [ks.callbacks.DivergenceGuard()],
        [ks.callbacks.DivergenceGuard("skip", every=2)],
    ):
        keras.utils.set_random_seed(1)
        model, (x, y) = made(optimizer=keras.optimizers.Adam), data()
        model.fit(x, y, batch_size=1, epochs=2, callbacks=callbacks, verbose=0)
        weights.append(model.get_weights())
    for other in weights[1:]:
        assert all(map(np.array_equal, weights[0], other))


@pytest.mark.parametrize("optimizer", [keras.optimizers.SGD, keras.optimizers.Adam])
def test_skips(optimizer):
    """The result is the same as without the bad batch and the step before it.

    The step before may have spoilt the weights: its update was in no good loss yet.
    """
    weights = []
    for bad in ([], [3]):
        keras.utils.set_random_seed(1)
        model, (x, y) = made(optimizer=optimizer), data(bad)
        if not bad:
            x, y = (np.delete(side, [2, 3], axis=0) for side in (x, y))
        guard = ks.callbacks.DivergenceGuard("skip", every=1)
        logs = fit(model, guard, x, y)
        assert guard.skipped == len(bad) and np.isfinite(logs["loss"]).all()
        weights.append(model.get_weights() + [int(model.optimizer.iterations)])
    assert all(map(np.array_equal, *weights))


def test_goes_back_to_the_last_copy(capsys):
    """Step 6 is bad: the copies are those before steps 1 and 4; 4 was verified."""
    model, (x, y) = made(), data([5])
    guard = ks.callbacks.DivergenceGuard("skip", every=3)
    model.fit(x, y, batch_size=1, shuffle=False, callbacks=[guard], verbose=2)
    said = "step 6: a loss of nan; the weights of step 3 were restored"
    assert said in capsys.readouterr().out
    assert int(model.optimizer.iterations) == 3 + 2


def test_gives_up():
    model, (x, y) = made(), data(range(2, 30), steps=30)
    with pytest.raises(FloatingPointError, match="were restored 10 times"):
        fit(model, ks.callbacks.DivergenceGuard("skip"), x, y)


def test_separate_skips_are_not_in_a_row():
    """Epochs are shorter than `every`; each has a bad batch."""
    model, guard = made(), ks.callbacks.DivergenceGuard("skip", every=6)
    fit(model, guard, *data([7]), epochs=12)
    assert guard.skipped == 12


def test_the_first_step_of_a_later_epoch_is_skipped_too():
    model, guard = made(), ks.callbacks.DivergenceGuard("skip", every=2)

    class Spoil(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                self.model.set_weights([w * np.nan for w in self.model.get_weights()])

    fit(model, guard, *data(), epochs=2, others=[Spoil()])
    assert guard.skipped == 1
    assert all(np.isfinite(weight).all() for weight in model.get_weights())


def test_nothing_to_go_back_to():
    with pytest.raises(FloatingPointError, match="no loss before was good"):
        fit(made(), ks.callbacks.DivergenceGuard("skip"), *data([0]))


def test_other_limits():
    """The loss grows by less than the factor."""
    model, (x, y) = made(), data([4], value=100.0)
    fit(model, ks.callbacks.DivergenceGuard(factor=1e9), x, y)
    with pytest.raises(FloatingPointError, match="at most .*, 2 times the first loss"):
        fit(made(), ks.callbacks.DivergenceGuard(factor=2), x, y)


@pytest.mark.parametrize("step, good", [(16, 1), (17, 2)])
def test_which_epoch_was_still_good(step, good):
    """The last step of an epoch may spoil the weights: the next loss shows it."""

    class Spoil(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if int(self.model.optimizer.iterations) == step:
                self.model.set_weights([w * 1e9 for w in self.model.get_weights()])

    guard = ks.callbacks.DivergenceGuard()
    with pytest.raises(FloatingPointError, match="epoch 3"):
        fit(made(), guard, *data(), epochs=4, others=[Spoil()])
    assert guard.good_epochs == good
