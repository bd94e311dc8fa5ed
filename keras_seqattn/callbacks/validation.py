"""Translates while it trains, and keeps the weights that translate best."""

import keras

from keras_seqattn.callbacks.moving_average import final_weights
from keras_seqattn.callbacks.samples import Samples
from keras_seqattn.callbacks.summaries import Summaries
from keras_seqattn.callbacks.validation_checks import (
    as_metrics,
    as_sides,
    check_options,
    check_translator,
)
from keras_seqattn.callbacks.validation_folder import ValidationFolder
from keras_seqattn.callbacks.validation_record import ValidationRecord


class Validation(keras.callbacks.Callback):
    """Translates a validation set now and then, and acts on how good that is.

    The loss knows the true words before each one; a translator does not. So here it
    translates, and what the metrics say stands in the logs as `val_bleu`, ... for the
    history and for callbacks behind this one. The first metric decides what is best.

    With `use_ema` in the optimizer, it is the moving average that translates and is
    kept, as it is the one that `fit` leaves behind.

    With a folder, the best weights are kept in `best.weights.h5` (without the state of
    the optimizer: load them into a model before it is compiled), and when training
    ends, the model gets them back. Before, the weights of the last validations are
    averaged if `average` says so: if they are better still, they are the best ones. A
    file is written whole or not at all, so that an interrupted training or a full disk
    costs no checkpoint. `validation.json` beside it lets a training go on where it
    was; one that starts from step 0 needs an empty folder.

    Args:
        translator: what is trained: has a `model`, and `translate(texts)`, which
            returns strings, or an object with them in `texts`.
        pairs: the validation set: an object with lists of strings `source` and
            `target`, or both as a tuple. A target may be a list of several references.
        metrics: names ("bleu", "tokenized_bleu", "chrf", "exact_match", "wer", "per")
            or `TextMetric`s.
        every: number of epochs or steps from one validation to the next.
        unit: "epoch" or "step".
        patience: training stops after as many validations without a better one. None:
            it does not.
        folder: where weights are kept. None: they are not.
        average: of how many last validations the weights are averaged. 0: none.
        samples: number of translations shown each time, always of the same sentences.
        log_dir: of TensorBoard, for scalars (logs, metrics, learning rate) and the
            samples. None: no logs.

    Example:
        >>> class Parrot:
        ...     model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        ...     def translate(self, texts):
        ...         return texts
        >>> parrot, pairs = Parrot(), (["hello", "world"], ["hello", "Welt"])
        >>> parrot.model.compile("sgd", "mse")
        >>> validation = Validation(parrot, pairs, metrics=["exact_match"])
        >>> history = parrot.model.fit(
        ...     np.ones((4, 1)), np.ones((4, 1)), callbacks=[validation], verbose=0
        ... )
        >>> history.history["val_exact_match"]
        [50.0]
    """

    def __init__(
        self,
        translator,
        pairs,
        metrics=("bleu",),
        every=1,
        unit="epoch",
        patience=None,
        folder=None,
        average=0,
        samples=3,
        log_dir=None,
    ):
        super().__init__()
        check_translator(translator)
        check_options(every, unit, patience, folder, average, samples)
        self.translator, self.metrics = translator, as_metrics(metrics)
        self.sources, self.references = as_sides(pairs)
        self.every, self.unit, self.patience = every, unit, patience
        self.samples = Samples(self.sources, self.references, samples)
        self.record = ValidationRecord(self.metrics[0])
        self.folder = self.summaries = None
        if folder is not None:
            self.folder = ValidationFolder(folder, translator.model, average)
        if log_dir is not None:
            self.summaries = Summaries(log_dir)

    @property
    def best(self):
        """`{"step": int, "values": {metric: float}, ...}` of the best one, or None."""
        return self.record.best

    # When -------------------------------------------------------------------------

    def on_train_begin(self, logs=None):
        self._seen, self._fresh = self._step(), {}
        if self._seen == 0:
            self.record.clear()
        self.go_on(self._seen)

    def on_train_batch_end(self, batch, logs=None):
        before, self._seen = self._seen, self._step()
        if self.unit == "step" and self._seen // self.every > before // self.every:
            self._validate(logs)

    def on_epoch_end(self, epoch, logs=None):
        if self.unit == "epoch" and (epoch + 1) % self.every == 0:
            self._validate(logs)
        if logs is not None:
            logs.update(self._fresh)
        self._fresh = {}

    def on_train_end(self, logs=None):
        self.restore()

    def _step(self):
        return int(self.model.optimizer.iterations.numpy())

    # What -------------------------------------------------------------------------

    def _validate(self, logs):
        step = self._step()
        with final_weights(self.model):
            texts, values = self._measure()
            best = self._remember(step, values)
            if self.folder:
                self.folder.save_last(step)
        self._fresh = {f"val_{name}": value for name, value in values.items()}
        self._show(f"step {step}", texts, values, best)
        self._log(step, {**(logs or {}), **self._fresh}, texts)
        if self.is_over:
            self.model.stop_training = True

    @property
    def is_over(self):
        """Whether there were `patience` validations without a better one."""
        return bool(self.patience) and self.record.waited >= self.patience

    def go_on(self, step):
        """Reads the record of a training that goes on at a step; `fit` does it too."""
        if self.folder:
            self.folder.go_on(self.record, step)
        self.record.rewind(step)

    def restore(self):
        """Gives the model its best weights; averages before, if there is something to.

        `fit` does this itself at its end; call it after one that was interrupted.
        """
        if not self.folder or not self.best:
            return
        averaged = self.folder.average()
        if averaged:
            texts, values = self._measure()
            best = self.record.is_better(values)
            if best:
                best = self._remember(self._step(), values)
            self._show(f"mean of the last {averaged}", texts, values, best)
        self.folder.load_best()

    def _measure(self):
        """The translations, and what the metrics say of them."""
        texts = self.translator.translate(self.sources)
        texts = list(getattr(texts, "texts", texts))
        return texts, {m.name: float(m(texts, self.references)) for m in self.metrics}

    def _remember(self, step, values):
        """Adds to the record, and keeps the weights if they are the best ones."""
        best, saved = self.record.is_better(values), True
        if best and self.folder:
            saved = self.record.is_worth_saving(values)
            best = not saved or self.folder.save_best()
        self.record.add(step, values, best, is_saved=saved)
        if self.folder:
            self.folder.save_record(self.record)
        return best

    # Where it is seen -------------------------------------------------------------

    def _show(self, when, texts, values, best):
        if self.params.get("verbose", 1):
            numbers = ", ".join(f"{name} {value:.2f}" for name, value in values.items())
            print(f"\n{when}: {numbers}{' (best)' if best else ''}")
            for line in self.samples.lines(texts):
                print(line)

    def _log(self, step, scalars, texts):
        if self.summaries:
            rate = getattr(self.model.optimizer, "learning_rate", None)
            if rate is not None:  # a MultiOptimizer has several
                scalars = {
                    **scalars,
                    "learning_rate": float(keras.ops.convert_to_numpy(rate)),
                }
            self.summaries.write(step, scalars, self.samples.rows(texts))
