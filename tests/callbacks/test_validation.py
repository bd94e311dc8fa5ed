"""Validation: when it translates, what it keeps, and what happens after a crash."""

import functools
import json
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import keras_seqattn as ks
from tests.callbacks.translators import SOURCES, TARGETS, Digits, Scripted
from tests.callbacks.translators import validation as validate


class Crash(keras.callbacks.Callback):
    """Ends a training as Ctrl-C does, after some epochs."""

    def __init__(self, epoch):
        super().__init__()
        self.epoch = epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.epoch:
            raise KeyboardInterrupt


def weight_of(translator, path):
    """What a file of weights holds."""
    fresh = Scripted()
    ks.models.average_checkpoints(fresh.model, [path])  # of one, compiled or not
    return fresh.weight


# When ---------------------------------------------------------------------------------


def test_history():
    translator = Scripted(3, 5, 4)
    history = translator.fit(validate(translator), epochs=3)
    assert history["val_exact_match"] == [30.0, 50.0, 40.0]
    assert len(history["loss"]) == 3


@pytest.mark.parametrize(
    "options, seen, reported",
    [
        ({"every": 2}, [6, 12], [0.0, 10.0]),  # epochs of three steps
        ({"every": 2, "unit": "step"}, [2, 4, 6, 8, 10, 12], [0.0, 20.0, 30.0, 50.0]),
        ({"every": 4, "unit": "step"}, [4, 8, 12], [0.0, 10.0, 20.0]),
        ({"every": 7, "unit": "step"}, [7], [0.0]),
    ],
)
def test_every(options, seen, reported):
    translator = Scripted(*range(10))
    history = translator.fit(validate(translator, **options), epochs=4, steps=3)
    assert translator.seen == seen  # the weight is the number of steps
    assert history["val_exact_match"] == reported  # the last one of an epoch


def test_stock_callbacks_behind_it(tmp_path):
    translator = Scripted(3, 5, 4, 2, 9)
    history = translator.fit(
        validate(translator),
        epochs=5,
        callbacks=[
            keras.callbacks.ModelCheckpoint(
                tmp_path / "best.weights.h5",
                monitor="val_exact_match",
                mode="max",
                save_best_only=True,
                save_weights_only=True,
            ),
            keras.callbacks.EarlyStopping("val_exact_match", mode="max", patience=2),
        ],
    )
    assert history["val_exact_match"] == [30.0, 50.0, 40.0, 20.0]
    assert weight_of(translator, tmp_path / "best.weights.h5") == 2.0


# What it keeps ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script, metric, epochs, best",
    [
        ((3, 5, 5, 4, 9), "exact_match", 4, 2),  # equal is not better
        ((3, 2, 1, 9, 0), "exact_match", 3, 1),
        ((1, 2, 3, 4, 5), "exact_match", 5, 5),
        ((3, 5, 4, 3, 9), "wer", 4, 2),  # lower is better
    ],
)
def test_patience(script, metric, epochs, best, tmp_path):
    translator = Scripted(*script)
    callback = validate(translator, metrics=[metric], patience=2, folder=tmp_path)
    history = translator.fit(callback, epochs=5)
    assert len(history[f"val_{metric}"]) == epochs
    assert callback.best["step"] == best
    assert translator.weight == best  # the model has its best weights back
    assert weight_of(translator, tmp_path / "best.weights.h5") == best


def test_patience_in_steps():
    translator = Scripted(5, 4, 3)
    callback = validate(translator, every=2, unit="step", patience=2)
    translator.fit(callback, epochs=3, steps=5)
    assert translator.seen == [2, 4, 6] and translator.weight == 6


def test_without_a_folder_the_last_weights_stay():
    translator = Scripted(5, 4, 3)
    callback = validate(translator)
    translator.fit(callback, epochs=3)
    assert translator.weight == 3 and callback.best["step"] == 1


def test_model_inside_another_one(tmp_path):
    """The trained model may contain the translating one, as in `ScheduledSampling`."""
    translator = Scripted(3, 5, 4)
    outer = keras.Sequential([translator.model])
    outer.compile(keras.optimizers.SGD(1.0), translator.model.loss)
    callback = validate(translator, folder=tmp_path)
    outer.fit(*2 * [np.ones((1, 1))], epochs=3, callbacks=[callback], verbose=0)
    assert translator.weight == 2.0


def test_nan_is_never_best(tmp_path):
    translator = Scripted(1, 2, 3)
    values = iter([np.nan, 4.0, np.nan])
    metric = ks.metrics.TextMetric("odd", lambda *_: next(values))
    callback = validate(translator, metrics=[metric], folder=tmp_path)
    translator.fit(callback, epochs=3)
    assert callback.best["values"] == {"odd": 4.0} and translator.weight == 2


def test_the_first_metric_decides():
    translator = Scripted(3, 5)
    callback = validate(translator, metrics=["per", "exact_match", "chrf", "bleu"])
    history = translator.fit(callback, epochs=2)
    assert history["val_exact_match"] == [30.0, 50.0]
    assert history["val_per"] == [70.0, 50.0]
    assert set(callback.best["values"]) == {"per", "exact_match", "chrf", "bleu"}
    assert callback.best["step"] == 2


def test_several_references():
    translator = Scripted(10)
    pairs = SOURCES, [["x", target] for target in TARGETS]
    callback = ks.callbacks.Validation(translator, pairs, metrics=["exact_match"])
    assert translator.fit(callback, epochs=1)["val_exact_match"] == [100.0]


@pytest.mark.parametrize("mean, weight", [(9, 3.0), (4, 2.0)])
def test_average(tmp_path, mean, weight):
    """Steps 2, 3 and 4 are the last three; their mean is kept if it is better."""
    translator = Scripted(3, 5, 4, 4, mean)
    callback = validate(translator, folder=tmp_path, average=3)
    translator.fit(callback, epochs=4)
    assert translator.seen == [1, 2, 3, 4, 3.0]
    names = {path.name for path in tmp_path.glob("last-*.h5")}
    assert names == {f"last-{step}.weights.h5" for step in (2, 3, 4)}
    assert translator.weight == weight
    assert weight_of(translator, tmp_path / "best.weights.h5") == weight
    assert callback.best["values"] == {"exact_match": max(50.0, 10.0 * mean)}


# Moving average -----------------------------------------------------------------------


@pytest.mark.parametrize("scaled", [False, True])
def test_moving_average(tmp_path, scaled):
    """Validation translates with and keeps the weights that `fit` would leave."""
    optimizer = keras.optimizers.SGD(1.0, use_ema=True, ema_momentum=0.5)
    if scaled:
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=1.0)
    translator, last = Scripted(3, 5, 4, optimizer=optimizer), []

    class Last(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            last.append(translator.weight)

    callback = validate(translator, folder=tmp_path, patience=1)
    translator.fit(callback, epochs=9, callbacks=[Last()])
    averages = [1.0, 1.5, 2.25]
    assert last == [1, 2, 3]  # training goes on with the weights it had
    assert translator.seen == averages
    assert weight_of(translator, tmp_path / "best.weights.h5") == averages[1]
    assert translator.weight == averages[1]


def test_moving_average_that_stops_early():
    """`SwapEMAWeights` would leave the last weights in the model here."""
    optimizer = keras.optimizers.SGD(1.0, use_ema=True, ema_momentum=0.5)
    translator = Scripted(3, 2, 1, optimizer=optimizer)
    translator.fit(validate(translator, patience=2), epochs=9)
    assert translator.weight == translator.seen[-1] == 2.25


# Going on -----------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize("crash", [1, 3, 4])
@pytest.mark.parametrize("every_step", [False, True])
def test_goes_on_after_a_crash(tmp_path, crash, every_step):
    """Record, files and weights are those of a training without a crash."""
    script, epochs = [3, 5, 4, 4, 9, 1], 5
    unit = {"every": 3, "unit": "step"} if every_step else {}
    options = {"patience": 3, "average": 2, **unit}
    whole = Scripted(*script)
    once = validate(whole, folder=tmp_path / "whole", **options)
    whole.fit(once, epochs, steps=3)

    translator = Scripted(*script)
    backup = keras.callbacks.BackupAndRestore(tmp_path / "backup")
    callback = validate(translator, folder=tmp_path / "parts", **options)
    with pytest.raises(KeyboardInterrupt):
        translator.fit(callback, epochs, steps=3, callbacks=[backup, Crash(crash)])
    saved = weight_of(translator, tmp_path / "parts" / "best.weights.h5")
    assert saved == 3 * min(crash, 2)  # nothing is lost

    rest = Scripted(*script[crash:])
    callback = validate(rest, folder=tmp_path / "parts", **options)
    # First in the list, so that the step is the one to go on from.
    rest.model.fit(
        *(np.ones((3, 1)), np.ones((3, 1))),
        batch_size=1,
        epochs=epochs,
        callbacks=[backup, callback],
        verbose=0,
    )
    assert callback.record.entries == once.record.entries
    assert rest.weight == whole.weight
    states = [tmp_path / name / "validation.json" for name in ("whole", "parts")]
    assert states[0].read_text() == states[1].read_text()


def test_goes_on_from_before_its_record(tmp_path):
    """Repeated validations count once; the best one stays."""
    translator = Scripted(3, 5, 4, 2)
    translator.fit(validate(translator, folder=tmp_path, average=2), epochs=3)
    again = Scripted(4, 2, 1)
    again.model.set_weights([np.array([[2.0]])])
    again.model.optimizer.iterations.assign(2)
    callback = validate(again, folder=tmp_path, average=2)
    again.fit(callback, epochs=2)
    steps = [(entry["step"], entry["best"]) for entry in callback.record.entries]
    assert steps == [(1, True), (2, True), (3, False), (4, False)]
    assert callback.record.waited == 2 and again.weight == 2.0


def again_from(step, script, folder, **options):
    """A training that continues at a step, with later validations in its record."""
    again = Scripted(*script)
    again.model.set_weights([np.array([[float(step)]])])
    again.model.optimizer.iterations.assign(step)
    return again, validate(again, folder=folder, **options)


@pytest.mark.parametrize("step", [1, 2])
def test_the_best_one_that_is_done_again_counts_once(tmp_path, step):
    """The best weights were saved, and the process was killed before its state was."""
    translator = Scripted(3, 4, 5)
    once = validate(translator, folder=tmp_path)
    translator.fit(once, epochs=3)
    again, callback = again_from(step, [3, 4, 5][step:], tmp_path, patience=1)
    again.fit(callback, epochs=3 - step)
    assert callback.record.entries == once.record.entries
    assert callback.record.waited == 0 and again.weight == 3.0


def test_the_best_one_stays_until_one_as_good_is_saved(tmp_path):
    translator = Scripted(3, 4, 9)
    translator.fit(validate(translator, folder=tmp_path), epochs=3)
    again, callback = again_from(1, [4, 8, 8, 8], tmp_path, patience=2)
    again.fit(callback, epochs=9)  # the third validation is another one now
    steps = [(entry["step"], entry["best"]) for entry in callback.record.entries]
    assert steps == [(1, True), (2, True), (3, True), (4, False), (5, False)]
    assert callback.best["values"] == {"exact_match": 90.0} and again.weight == 3.0


def test_damaged_weights_are_not_averaged(tmp_path):
    translator = Scripted(3, 4, 5, 6, 9)
    callback = validate(translator, folder=tmp_path, average=3)

    class Damage(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if epoch == 3:
                path = tmp_path / "last-3.weights.h5"
                path.write_bytes(path.read_bytes()[:-1] + b"?")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        translator.fit(callback, epochs=4, callbacks=[Damage()])
    [said] = [str(w.message) for w in caught if w.category is RuntimeWarning]
    assert "received other content of last-3.weights.h5 in" in said
    assert translator.weight == 3.0  # of steps 2 and 4


def test_restores_after_an_interrupt(tmp_path):
    translator = Scripted(3, 5, 4)
    callback = validate(translator, folder=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        translator.fit(callback, epochs=9, callbacks=[Crash(3)])
    callback.restore()
    assert translator.weight == 2.0


def test_a_second_fit_goes_on():
    translator = Scripted(5, 4, 3, 2)
    callback = validate(translator, patience=3)
    translator.fit(callback, epochs=2)
    translator.fit(callback, epochs=9)
    assert len(translator.seen) == 4


def test_record_is_readable(tmp_path):
    translator = Scripted(3)
    translator.fit(validate(translator, folder=tmp_path), epochs=1)
    state = json.loads((tmp_path / "validation.json").read_text())
    values = {"exact_match": 30.0}
    assert state == {
        "metric": "exact_match",
        "entries": [{"step": 1, "values": values, "best": True}],
    }


# Where it is seen ---------------------------------------------------------------------


def test_printed(capsys):
    translator = Scripted(8, 2)
    translator.fit(validate(translator, samples=2), epochs=2, verbose=2)
    printed = capsys.readouterr().out
    assert (
        "\nstep 1: exact_match 80.00 (best)\n"
        "  source       s0\n  translation  t0\n  reference    t0\n"
        "  source       s5\n  translation  t5\n  reference    t5\n"
    ) in printed
    assert "\nstep 2: exact_match 20.00\n" in printed
    assert "val_exact_match: 20.0000" in printed  # Keras's own line


@pytest.mark.parametrize("options", [{"verbose": 0}, {"verbose": 2}])
def test_quiet(capsys, options):
    translator = Scripted(8)
    translator.fit(validate(translator, samples=0), epochs=1, **options)
    assert "source" not in capsys.readouterr().out


def test_tensorboard(tmp_path):
    """Read back as TensorBoard does it."""
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([1], [0.5, 0.25])
    translator = Scripted(3, 5, optimizer=keras.optimizers.SGD(rate))
    pairs = [t.replace("s1", "*s*|1 <b>") for t in SOURCES], TARGETS
    callback = ks.callbacks.Validation(
        *(translator, pairs, ["exact_match", "per"]), log_dir=tmp_path, samples=10
    )
    history = translator.fit(callback, epochs=2, steps=2)
    events = EventAccumulator(str(tmp_path)).Reload()
    read = {
        tag: [(e.step, float(tf.make_ndarray(e.tensor_proto))) for e in found]
        for tag in events.Tags()["tensors"]
        if tag != "samples"
        for found in [events.Tensors(tag)]
    }
    assert set(read) == {"loss", "val_exact_match", "val_per", "learning_rate"}
    assert read["val_exact_match"] == [(2, 20.0), (4, 40.0)]
    assert [value for _, value in read["loss"]] == pytest.approx(history["loss"])
    assert read["learning_rate"] == [(2, 0.25), (4, 0.25)]
    samples = events.Tensors("samples")
    assert [sample.step for sample in samples] == [2, 4]
    cells = [cell.decode() for cell in samples[0].tensor_proto.string_val]
    assert cells[:6] == ["source", "translation", "reference", "s0", "t0", "t0"]
    # As text, not as Markdown.
    assert cells[6:9] == [r"\*s\*\|1 &lt;b&gt;", r"\*t\*\|1 &lt;b&gt;", "t1"]
    assert samples[0].tensor_proto.tensor_shape.dim[1].size == 3


# A real model -------------------------------------------------------------------------


@pytest.mark.system
@pytest.mark.parametrize("sampled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_real_model(tmp_path, sampled):
    """The model learns a little, and the kept weights give the same translations."""
    translator = Digits()
    sources = [f"{i:02}" for i in range(0, 100, 3)]
    model = translator.model
    if sampled:  # the inner model is what translates and is kept
        model = ks.models.ScheduledSampling(model, ks.models.ConstantProbability(0.1))
    model.compile(
        keras.optimizers.Adam(0.05, use_ema=True, ema_momentum=0.5),
        ks.losses.SmoothedCrossentropy(0.0),
        weighted_metrics=[ks.metrics.TokenAccuracy(), ks.metrics.Perplexity()],
    )
    cer = ks.metrics.TextMetric(
        "cer", functools.partial(ks.metrics.token_error_rate, tokenize=list), False
    )
    pairs = sources[:8], sources[:8]
    callback = ks.callbacks.Validation(
        translator, pairs, [cer, "chrf"], folder=tmp_path
    )
    x, y = translator.dataset(sources, sources)
    history = model.fit(
        *(x, y), batch_size=17, epochs=6, callbacks=[callback], verbose=0
    ).history
    for name in ("perplexity", "val_cer"):
        assert history[name][-1] < history[name][0]
    assert history["token_accuracy"][-1] > history["token_accuracy"][0]
    best = min(history["val_cer"])
    assert best == callback.best["values"]["cer"]
    texts = translator.translate(sources[:8]).texts
    assert cer(texts, sources[:8]) == best
    fresh = Digits().model
    fresh.load_weights(tmp_path / "best.weights.h5")
    for a, b in zip(fresh.get_weights(), translator.model.get_weights(), strict=True):
        assert np.array_equal(a, b)
