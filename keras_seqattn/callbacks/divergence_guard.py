"""The callback that stops a diverging training, or undoes its last steps."""

import math

import keras
import numpy as np

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import abbreviated, four_part_error

ACTIONS = ("stop", "skip")
_MOST_SKIPS = 10  # in a row: then it is useless to continue


class DivergenceGuard(keras.callbacks.Callback):
    """Stops a training whose loss diverges, or undoes the last steps.

    It reads the mean loss of the epoch so far, which Keras reports after each step.
    The loss has diverged if this mean is NaN or infinite, or more than `factor` times
    the loss of the first step. At the end of an epoch, the weights must be finite, too.
    The error names the step in which it happened. `keras.callbacks.TerminateOnNaN`
    checks for NaN and infinity only, and `fit` then returns without an error.

    Make it the first callback in the list, so that no other callback saves diverged
    weights.

    Args:
        action: "stop" raises a `FloatingPointError`. "skip" restores the last good
            weights and state of the optimizer, from at most 2 x `every` steps before,
            and continues with the next batch; the mean loss of the epoch then starts
            again. It raises the error, too, if it has restored 10 times in a row
            without `every` good steps between, or if there was no good step yet.
        factor: a loss above `factor` times the loss of the first step has diverged.
        every: steps between the two copies of weights and optimizer that "skip" keeps
            in memory.

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
        self.skipped = 0  # how often the weights were restored

    def on_train_begin(self, logs=None):
        self._first = self._last = None  # the first loss; the last good one, its step
        self._good = self._copy = None  # copies: the loss after _copy is not known yet
        self._steps = self._good_steps = self._in_a_row = self._epoch = 0
        self._last_epoch = None  # the last one with a good loss

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch, self._steps = epoch + 1, 0

    def on_train_batch_begin(self, batch, logs=None):
        if self.action == "skip" and self._steps % self.every == 0:
            self._copy = self._variables()

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
        """The number of epochs after which a later loss has shown good weights."""
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
            raise self._error(received, step)
        for variable, value in self._good:
            variable.assign(value)
        self.model.reset_metrics()
        self._copy = None
        self._steps = self._good_steps = 0  # the next step begins with a copy
        self.skipped += 1
        if self.params.get("verbose", 1):
            print(
                f"\nstep {step}: {received}; the weights of step {self._step()} were "
                "restored"
            )

    def _error(self, received, step):
        last = "no loss before was good"
        if self._last:
            last = f"the last good loss was {self._last[0]:.4g} in step {self._last[1]}"
        restored = ""
        if self._in_a_row > 1:
            restored = f" after the weights were restored {self._in_a_row - 1} times"
        return four_part_error(
            "The loss has diverged",
            f"finite weights and a loss of at most {self._limit:.4g}, "
            f"{self.factor:g} times the first loss",
            f"{received} in step {step} of epoch {self._epoch}{restored}; {last}",
            "Lower the learning rate, add a warm-up, or clip the gradients",
            kind=FloatingPointError,
        )

    def _variables(self):
        """Copies of the variables, without the states of random generators."""
        variables = [*self.model.variables, *self.model.optimizer.variables]
        return [
            (variable, np.copy(keras.ops.convert_to_numpy(variable)))
            for variable in variables
            if not variable.path.endswith("seed_generator_state")
        ]


def _check(action, factor, every):
    check_choice("DivergenceGuard", "action", action, ACTIONS)
    check_count("DivergenceGuard", "every", every)
    if isinstance(factor, bool) or not isinstance(factor, (int, float)) or factor <= 1:
        raise four_part_error(
            "DivergenceGuard got an unusable factor",
            "a number above 1",
            f"factor={abbreviated(factor)}",
            "Pass factor=100.0, for example",
        )
