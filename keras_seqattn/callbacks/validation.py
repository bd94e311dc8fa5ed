"""The callback that translates a validation set during training."""

import keras

from keras_seqattn.callbacks.final_weights import final_weights
from keras_seqattn.callbacks.sample_translations import SampleTranslations
from keras_seqattn.callbacks.validation_checks import (
    as_metrics,
    as_sides,
    check_is_trained,
    check_options,
    check_translator,
)
from keras_seqattn.callbacks.validation_folder import ValidationFolder
from keras_seqattn.callbacks.validation_logs import ValidationLogs
from keras_seqattn.callbacks.validation_record import ValidationRecord


class Validation(keras.callbacks.Callback):
    """Translates a held-out set during training, and keeps the best checkpoint.

    It can also stop the training early, and average the last N checkpoints.

    The loss sees the true words before each target word; a translator does not. So
    this callback translates, and writes the values of the metrics into the logs as
    `val_bleu`, ..., for the history and for the callbacks after this one. The first
    metric decides which validation is best.

    With `use_ema` in the optimizer, the moving average of the weights translates and
    is kept, because `fit` leaves the moving average in the model.

    With a folder, the best weights are kept in `best.weights.h5`, without the state of
    the optimizer: load them into a model before it is compiled. When training ends,
    the callback first averages the weights of the last validations (see `average`); if
    the average translates better than the best weights, it replaces them. Then the
    best weights are loaded into the model.

    Files are written completely or not at all, so an interrupted training or a full
    disk destroys no checkpoint. Weights that could not be saved do not count as the
    best. `validation.json` in the same folder lets a training continue; a training
    that starts at step 0 needs an empty folder.

    Args:
        translator: the translator that is trained: an object with a `model` and a
            method `translate(texts)`, which returns strings, or an object that has
            them in `texts`.
        pairs: the validation set: `Pairs`, a list of pairs of strings, or both sides as
            a tuple of two lists. A target may be a list of several references.
        metrics: names ("bleu", "tokenized_bleu", "chrf", "exact_match", "wer", "per")
            or `TextMetric`s.
        every: number of epochs or steps from one validation to the next.
        unit: "epoch" or "step".
        patience: stop training after this number of validations without a better one.
            None: do not stop early.
        folder: the folder for weights. None: no weights are kept.
        average: number of last validations whose weights are averaged. 0: none.
        samples: number of translations to print each time, of always the same
            sentences.
        log_dir: folder of TensorBoard's logs, for scalars (logs, metrics, learning
            rate) and the sample translations. None: no logs.

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
        self.samples = SampleTranslations(self.sources, self.references, samples)
        self.record = ValidationRecord(self.metrics[0])
        self.folder = self.log_writer = None
        if folder is not None:
            self.folder = ValidationFolder(folder, translator.model, average)
        if log_dir is not None:
            self.log_writer = ValidationLogs(log_dir)

    @property
    def best(self):
        """`{"step": int, "values": {metric: float}, ...}` of the best validation.

        None: there was no validation yet.
        """
        return self.record.best

    # When to validate -------------------------------------------------------------

    def on_train_begin(self, logs=None):
        check_is_trained(self.translator.model, self.model)
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

    # One validation ---------------------------------------------------------------

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
        """Read the record of a training that continues at a step, as `fit` does."""
        if self.folder:
            self.folder.resume(self.record, step)
        self.record.rewind(step)

    def restore(self):
        """Load the best weights into the model; average the last ones before.

        `fit` calls this at its end. Call it yourself after an interrupted `fit`.
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
        """Translate; return the translations and the values of the metrics."""
        texts = self.translator.translate(self.sources)
        texts = list(getattr(texts, "texts", texts))
        return texts, {m.name: float(m(texts, self.references)) for m in self.metrics}

    def _remember(self, step, values):
        """Add to the record; save the weights if they are the best ones."""
        best, saved = self.record.is_better(values), True
        if best and self.folder:
            saved = self.record.is_worth_saving(values)
            best = not saved or self.folder.save_best()
        self.record.add(step, values, best, is_saved=saved)
        if self.folder:
            self.folder.save_record(self.record)
        return best

    # Output -----------------------------------------------------------------------

    def _show(self, when, texts, values, best):
        if self.params.get("verbose", 1):
            numbers = ", ".join(f"{name} {value:.2f}" for name, value in values.items())
            print(f"\n{when}: {numbers}{' (best)' if best else ''}")
            for line in self.samples.lines(texts):
                print(line)

    def _log(self, step, scalars, texts):
        if self.log_writer:
            rate = getattr(self.model.optimizer, "learning_rate", None)
            if rate is not None:  # a MultiOptimizer has several
                scalars = {
                    **scalars,
                    "learning_rate": float(keras.ops.convert_to_numpy(rate)),
                }
            self.log_writer.write(step, scalars, self.samples.rows(texts))
