"""DivergenceGuard: it stops a diverging training, or undoes the last steps."""

import keras
import numpy as np
import pytest

from keras_seqattn.callbacks import DivergenceGuard as Guard


def made(learning_rate=0.1, optimizer=keras.optimizers.SGD):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile(optimizer(learning_rate), "mse")
    return model


def data(bad=(), steps=8, value=np.nan):
    x = np.linspace(1, 2, steps, dtype="float32")[:, None]
    y = 3 * x + 1
    for step in bad:
        y[step] = value
    return x, y


def fit(model, x, y, *callbacks, verbose=0, **options):
    options = {"batch_size": 1, "shuffle": False, "verbose": verbose, **options}
    return model.fit(x, y, callbacks=list(callbacks), **options).history


def spoil(model, at, factor=np.nan):
    """A callback that multiplies the weights after a step."""

    def end(batch, logs):
        if int(model.optimizer.iterations) == at:
            model.set_weights([w * factor for w in model.get_weights()])

    return keras.callbacks.LambdaCallback(on_train_batch_end=end)


@pytest.mark.parametrize("value, received", [(np.nan, "nan"), (np.inf, "inf")])
def test_stops_at_the_step(value, received):
    said = f"received a loss of {received} in step 4 of epoch 1.*in step 3. Lower"
    with pytest.raises(FloatingPointError, match=said):
        fit(made(), *data([3], value=value), Guard())


def test_stops_when_the_loss_explodes_or_the_last_step_spoils_weights():
    """The loss stays finite, so Keras's TerminateOnNaN does not stop."""
    model = made(20.0)
    with pytest.raises(FloatingPointError, match="100 times the first loss, rec"):
        fit(model, *data(), Guard())
    assert all(np.isfinite(weight).all() for weight in model.get_weights())
    model = made()
    with pytest.raises(FloatingPointError, match="weights that are not finite in step"):
        fit(model, *data(), spoil(model, 8), Guard())


def test_a_good_training_is_left_alone():
    weights = []
    for callbacks in ([], [Guard()], [Guard("skip", every=2)]):
        keras.utils.set_random_seed(1)
        model = made(optimizer=keras.optimizers.Adam)
        fit(model, *data(), *callbacks, epochs=2)
        weights.append(model.get_weights())
    for other in weights[1:]:
        assert all(map(np.array_equal, weights[0], other))


@pytest.mark.parametrize("optimizer", [keras.optimizers.SGD, keras.optimizers.Adam])
def test_skips(optimizer):
    """As without the bad batch and the step before, whose update no loss has seen."""
    weights, short = [], [np.delete(side, [2, 3], axis=0) for side in data()]
    for skipped, batches in enumerate((short, data([3]))):
        keras.utils.set_random_seed(1)
        model, guard = made(optimizer=optimizer), Guard("skip", every=1)
        logs = fit(model, *batches, guard)
        assert guard.skipped == skipped and np.isfinite(logs["loss"]).all()
        weights.append(model.get_weights() + [int(model.optimizer.iterations)])
    assert all(map(np.array_equal, *weights))


def test_goes_back_to_the_last_copy(capsys):
    """Step 6 is bad: the copies are those before steps 1 and 4; 4 was verified."""
    model, guard = made(), Guard("skip", every=3)
    fit(model, *data([5]), guard, verbose=2)
    said = "step 6: a loss of nan; the weights of step 3 were restored"
    assert said in capsys.readouterr().out
    assert int(model.optimizer.iterations) == 3 + 2


def test_gives_up_after_many_skips_in_a_row():
    spoilt = data(range(2, 30), steps=30)
    with pytest.raises(FloatingPointError, match="were restored 10 times"):
        fit(made(), *spoilt, Guard("skip"))
    # Epochs are shorter than `every`; each has a bad batch.
    guard = Guard("skip", every=6)
    fit(made(), *data([7]), guard, epochs=12)
    assert guard.skipped == 12


def test_the_first_step_of_a_later_epoch_is_skipped_too():
    model, guard = made(), Guard("skip", every=2)

    def begin(epoch, logs):
        if epoch == 1:
            model.set_weights([w * np.nan for w in model.get_weights()])

    spoiling = keras.callbacks.LambdaCallback(on_epoch_begin=begin)
    fit(model, *data(), spoiling, guard, epochs=2)
    assert guard.skipped == 1
    assert all(np.isfinite(weight).all() for weight in model.get_weights())


def test_nothing_to_go_back_to_and_other_limits():
    with pytest.raises(FloatingPointError, match="no loss before was good"):
        fit(made(), *data([0]), Guard("skip"))
    grows = data([4], value=100.0)
    fit(made(), *grows, Guard(factor=1e9))
    with pytest.raises(FloatingPointError, match="at most .*, 2 times the first loss"):
        fit(made(), *grows, Guard(factor=2))


@pytest.mark.parametrize("step, good", [(16, 1), (17, 2)])
def test_which_epoch_was_still_good(step, good):
    """The last step of an epoch may spoil the weights: the next loss shows it."""
    model, guard = made(), Guard()
    with pytest.raises(FloatingPointError, match="epoch 3"):
        fit(model, *data(), spoil(model, step, 1e9), guard, epochs=4)
    assert guard.good_epochs == good
