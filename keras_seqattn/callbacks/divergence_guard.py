"""A loss that explodes ends the training, or the steps that did it are undone."""

import math

import keras
import numpy as np

from keras_seqattn.errors import four_part_error

ACTIONS = ("stop", "skip")
_MOST_SKIPS = 10  # in a row: then nothing is gained by going on


class DivergenceGuard(keras.callbacks.Callback):
    """Stops a training whose loss explodes, or undoes the steps that did it.

    It looks at the mean loss of the epoch so far, which Keras reports after each step.
    The loss has diverged if this mean is NaN or infinite, or more than `factor` times
    the loss of the first step. At the end of an epoch, the weights must be finite, too.
    The error says in which step it happened. `keras.callbacks.TerminateOnNaN` checks
    for NaN and infinity only, and `fit` then returns without an error.

    Let it be the first callback in the list, so that no other one saves the weights.

    Args:
        action: "stop" raises a `FloatingPointError`. "skip" puts the weights and the
            optimizer back to where they last were good, at most 2 x `every` steps
            before, and goes on with the next batch; the loss of the epoch is counted
            anew from there. After 10 times in a row without `every` good steps between,
            and before any good step, it raises as well.
        factor: a loss above `factor` times the loss of the first step has diverged.
        every: steps between the copies of weights and optimizer that "skip" keeps in
            memory, two of them.

    Example:
        >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        >>> model.compile(keras.optimizers.SGD(1e6), "mse")
        >>> x = np.ones((8, 1))
        >>> try:
        ...     history = model.fit(x, x, 1, verbose=0, callbacks=[DivergenceGuard()])
        ... except FloatingPointError as error:
        ...     print(str(error)[:22])
        The loss has diverged.
    """

    def __init__(self, action="stop", factor=100.0, every=50):
        super().__init__()
        _check(action, factor, every)
        self.action, self.factor, self.every = action, float(factor), int(every)
        self.skipped = 0  # how often steps were undone

    def on_train_begin(self, logs=None):
        self._first = self._last = None  # losses; the last one with its step
        self._good = self._copy = None  # copies: the loss of _copy is not known yet
        self._steps = self._good_steps = self._in_a_row = self._epoch = 0
        self._last_epoch = None  # the last one with a good loss

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch, self._steps = epoch + 1, 0

    def on_train_batch_begin(self, batch, logs=None):
        if self.action == "skip" and self._steps % self.every == 0:
            self._copy = self._variables(np.copy)

    def on_train_batch_end(self, batch, logs=None):
        loss = float((logs or {}).get("loss", math.nan))
        if self._first is None and math.isfinite(loss):
            self._first = abs(loss)
        if not math.isfinite(loss) or abs(loss) > self._limit:
            self._diverged(f"a loss of {loss:.4g}")
            return
        self._last, self._last_epoch = (loss, self._step()), self._epoch
        self._steps += 1
        self._good_steps += 1
        if self._good_steps >= self.every:
            self._in_a_row = 0
        if self._copy is not None:
            self._good, self._copy = self._copy, None

    def on_epoch_end(self, epoch, logs=None):
        if not all(np.all(np.isfinite(w)) for w in self.model.get_weights()):
            self._diverged("weights that are not finite")

    @property
    def good_epochs(self):
        """After how many epochs the weights were good, as a later loss has shown."""
        return self._epoch - 1 if self._last_epoch == self._epoch else self._epoch - 2

    @property
    def _limit(self):
        return math.inf if not self._first else self.factor * self._first

    def _step(self):
        return int(self.model.optimizer.iterations)

    def _diverged(self, received):
        step = self._step()
        self._in_a_row += 1
        if self.action == "stop" or not self._good or self._in_a_row > _MOST_SKIPS:
            raise FloatingPointError(self._message(received, step))
        for variable, value in self._good:
            variable.assign(value)
        self.model.reset_metrics()
        self._copy = None
        self._steps = self._good_steps = 0  # the next step begins with a copy
        self.skipped += 1
        if self.params.get("verbose", 1):
            print(
                f"\nstep {step}: {received}; the weights are those of step "
                f"{self._step()} again"
            )

    def _message(self, received, step):
        last = "none was good before"
        if self._last:
            last = f"the last good one was {self._last[0]:.4g} in step {self._last[1]}"
        tries = ""
        if self._in_a_row > 1:
            tries = f" after {self._in_a_row - 1} times of going back"
        return (
            f"The loss has diverged. Expected finite weights and a loss of at most "
            f"{self._limit:.4g}, {self.factor:g} times the first one, received "
            f"{received} in step {step} of epoch {self._epoch}{tries}; {last}. Use a "
            "lower learning rate, a warm-up, or clip the gradients."
        )

    def _variables(self, copied):
        """Variables with their values, but for the states of random generators."""
        variables = [*self.model.variables, *self.model.optimizer.variables]
        return [
            (variable, copied(keras.ops.convert_to_numpy(variable)))
            for variable in variables
            if not variable.path.endswith("seed_generator_state")
        ]


def _check(action, factor, every):
    if action not in ACTIONS:
        raise _unusable("action", action, "'stop' or 'skip'", "stop")
    if isinstance(factor, bool) or not isinstance(factor, (int, float)) or factor <= 1:
        raise _unusable("factor", factor, "a number above 1", 100.0)
    if type(every) is not int or every < 1:
        raise _unusable("every", every, "a positive integer", 50)


def _unusable(name, value, expected, example):
    return four_part_error(
        f"DivergenceGuard got an unusable {name}",
        expected,
        f"{name}={value!r}",
        f"Pass {name}={example!r}, for example",
    )
