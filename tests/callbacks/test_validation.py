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
from tests.callbacks.translators import SOURCES, TARGETS, Scripted
from tests.callbacks.translators import validation as validate
from tests.translator import tiny


def crash_at(epoch):
    """A callback that ends a training as Ctrl-C does, after some epochs."""

    def begin(now, logs):
        if now == epoch:
            raise KeyboardInterrupt

    return keras.callbacks.LambdaCallback(on_epoch_begin=begin)


def weight_of(translator, path):
    fresh = Scripted()
    ks.models.average_checkpoints(fresh.model, [path])  # of one, compiled or not
    return fresh.weight


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
    path, monitored = tmp_path / "best.weights.h5", ("val_exact_match", 0, True, True)
    best = keras.callbacks.ModelCheckpoint(path, *monitored, mode="max")
    stop = keras.callbacks.EarlyStopping("val_exact_match", patience=2, mode="max")
    history = translator.fit(validate(translator), epochs=5, callbacks=[best, stop])
    assert history["val_exact_match"] == [30.0, 50.0, 40.0, 20.0]
    assert weight_of(translator, tmp_path / "best.weights.h5") == 2.0


PATIENCE = [
    ((3, 5, 5, 4, 9), "exact_match", 4, 2),  # equal is not better
    ((1, 2, 3, 4, 5), "exact_match", 5, 5),
    ((3, 5, 4, 3, 9), "wer", 4, 2),  # lower is better
]


@pytest.mark.parametrize("script, metric, epochs, best", PATIENCE)
def test_patience(script, metric, epochs, best, tmp_path):
    translator = Scripted(*script)
    callback = validate(translator, metrics=[metric], patience=2, folder=tmp_path)
    history = translator.fit(callback, epochs=5)
    values = history[f"val_{metric}"]
    assert len(values) == epochs
    assert callback.best["step"] == best
    assert translator.weight == best  # the model has its best weights back
    assert weight_of(translator, tmp_path / "best.weights.h5") == best
    state = json.loads((tmp_path / "validation.json").read_text())
    assert state == {"metric": metric, "entries": callback.record.entries}
    first = {"step": 1, "values": {metric: values[0]}, "best": True}
    assert state["entries"][0] == first


def test_without_a_folder_the_last_weights_stay():
    translator = Scripted(5, 4, 3)
    callback = validate(translator, every=2, unit="step", patience=2)
    translator.fit(callback, epochs=3, steps=5)
    assert translator.seen == [2, 4, 6] and translator.weight == 6
    assert callback.best["step"] == 2


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


def test_the_first_metric_decides_and_several_references_count():
    translator = Scripted(3, 5)
    callback = validate(translator, metrics=["per", "exact_match", "chrf", "bleu"])
    history = translator.fit(callback, epochs=2)
    assert history["val_exact_match"] == [30.0, 50.0]
    assert history["val_per"] == [70.0, 50.0]
    assert set(callback.best["values"]) == {"per", "exact_match", "chrf", "bleu"}
    assert callback.best["step"] == 2
    translator = Scripted(10)
    pairs = SOURCES, [["x", target] for target in TARGETS]
    callback = ks.callbacks.Validation(translator, pairs, metrics=["exact_match"])
    assert translator.fit(callback, epochs=1)["val_exact_match"] == [100.0]


@pytest.mark.parametrize("mean, weight", [(9, 3.0), (4, 2.0)])
def test_average(tmp_path, mean, weight):
    translator = Scripted(3, 5, 4, 4, mean)
    callback = validate(translator, folder=tmp_path, average=3)
    translator.fit(callback, epochs=4)
    assert translator.seen == [1, 2, 3, 4, 3.0]
    names = {path.name for path in tmp_path.glob("last-*.h5")}
    assert names == {f"last-{step}.weights.h5" for step in (2, 3, 4)}
    assert translator.weight == weight
    assert weight_of(translator, tmp_path / "best.weights.h5") == weight
    assert callback.best["values"] == {"exact_match": max(50.0, 10.0 * mean)}


def moving_average():
    return keras.optimizers.SGD(1.0, use_ema=True, ema_momentum=0.5)


@pytest.mark.parametrize("scaled", [False, True])
def test_moving_average(tmp_path, scaled):
    """Validation translates with and keeps the weights that `fit` would leave."""
    optimizer = moving_average()
    if scaled:
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=1.0)
    translator, last = Scripted(3, 5, 4, optimizer=optimizer), []

    def look(*_):
        last.append(translator.weight)

    callback = validate(translator, folder=tmp_path, patience=1)
    see = keras.callbacks.LambdaCallback(on_epoch_end=look)
    translator.fit(callback, epochs=9, callbacks=[see])
    assert last == [1, 2, 3]  # training goes on with the weights it had
    assert translator.seen == [1.0, 1.5, 2.25]
    assert weight_of(translator, tmp_path / "best.weights.h5") == 1.5
    assert translator.weight == 1.5


def test_moving_average_that_stops_early():
    """`SwapEMAWeights` would leave the last weights in the model here."""
    translator = Scripted(3, 2, 1, optimizer=moving_average())
    translator.fit(validate(translator, patience=2), epochs=9)
    assert translator.weight == translator.seen[-1] == 2.25


@pytest.mark.product
@pytest.mark.parametrize("crash", [1, 3, 4])
@pytest.mark.parametrize("every_step", [False, True])
def test_goes_on_after_a_crash(tmp_path, crash, every_step):
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
        translator.fit(callback, epochs, steps=3, callbacks=[backup, crash_at(crash)])
    saved = weight_of(translator, tmp_path / "parts" / "best.weights.h5")
    assert saved == 3 * min(crash, 2)  # nothing is lost
    rest = Scripted(*script[crash:])
    callback = validate(rest, folder=tmp_path / "parts", **options)
    # The backup is first, so that the step is the one to go on from.
    rest.fit(backup, epochs, steps=3, callbacks=[callback])
    assert callback.record.entries == once.record.entries
    assert rest.weight == whole.weight
    states = [tmp_path / name / "validation.json" for name in ("whole", "parts")]
    assert states[0].read_text() == states[1].read_text()


def again_from(step, script, folder, **options):
    """A training that continues at a step, with later validations in its record."""
    again = Scripted(*script)
    again.model.set_weights([np.array([[float(step)]])])
    again.model.optimizer.iterations.assign(step)
    return again, validate(again, folder=folder, **options)


def steps_of(callback):
    return [(entry["step"], entry["best"]) for entry in callback.record.entries]


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


def test_goes_on_from_before_its_record(tmp_path):
    translator = Scripted(3, 5, 4, 2)
    translator.fit(validate(translator, folder=tmp_path, average=2), epochs=3)
    again, callback = again_from(2, [4, 2, 1], tmp_path, average=2)
    again.fit(callback, epochs=2)
    assert steps_of(callback) == [(1, True), (2, True), (3, False), (4, False)]
    assert callback.record.waited == 2 and again.weight == 2.0


def test_the_best_one_stays_until_one_as_good_is_saved(tmp_path):
    translator = Scripted(3, 4, 9)
    translator.fit(validate(translator, folder=tmp_path), epochs=3)
    again, callback = again_from(1, [4, 8, 8, 8], tmp_path, patience=2)
    again.fit(callback, epochs=9)  # the third validation is another one now
    assert steps_of(callback) == [(i, i < 4) for i in range(1, 6)]
    assert callback.best["values"] == {"exact_match": 90.0} and again.weight == 3.0


def test_damaged_weights_are_not_averaged(tmp_path):
    translator = Scripted(3, 4, 5, 6, 9)
    callback = validate(translator, folder=tmp_path, average=3)

    def damage(epoch, logs):
        if epoch == 3:
            path = tmp_path / "last-3.weights.h5"
            path.write_bytes(path.read_bytes()[:-1] + b"?")

    damaging = keras.callbacks.LambdaCallback(on_epoch_end=damage)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        translator.fit(callback, epochs=4, callbacks=[damaging])
    [said] = [str(w.message) for w in caught if w.category is RuntimeWarning]
    assert "received other content of last-3.weights.h5 in" in said
    assert translator.weight == 3.0  # of steps 2 and 4


def test_restores_after_an_interrupt_and_a_second_fit_goes_on(tmp_path):
    translator = Scripted(3, 5, 4)
    callback = validate(translator, folder=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        translator.fit(callback, epochs=9, callbacks=[crash_at(3)])
    callback.restore()
    assert translator.weight == 2.0
    translator = Scripted(5, 4, 3, 2)
    callback = validate(translator, patience=3)
    translator.fit(callback, epochs=2)
    translator.fit(callback, epochs=9)
    assert len(translator.seen) == 4


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
    for samples, verbose in ((0, 2), (2, 0)):
        translator = Scripted(8)
        callback = validate(translator, samples=samples)
        translator.fit(callback, epochs=1, verbose=verbose)
        assert "source" not in capsys.readouterr().out


def test_tensorboard(tmp_path):
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([1], [0.5, 0.25])
    translator = Scripted(3, 5, optimizer=keras.optimizers.SGD(rate))
    pairs = [t.replace("s1", "*s*|1 <b>") for t in SOURCES], TARGETS
    callback = ks.callbacks.Validation(
        *(translator, pairs, ["exact_match", "per"]), log_dir=tmp_path, samples=10
    )
    history = translator.fit(callback, epochs=2, steps=2)
    events = EventAccumulator(str(tmp_path)).Reload()

    def read(tag):
        found = events.Tensors(tag)
        assert [event.step for event in found] == [2, 4]
        return [float(tf.make_ndarray(event.tensor_proto)) for event in found]

    tags = {"loss", "val_exact_match", "val_per", "learning_rate", "samples"}
    assert set(events.Tags()["tensors"]) == tags
    assert read("val_exact_match") == [20.0, 40.0]
    assert read("loss") == pytest.approx(history["loss"])
    assert read("learning_rate") == [0.25, 0.25]
    samples = events.Tensors("samples")
    assert [sample.step for sample in samples] == [2, 4]
    cells = [cell.decode() for cell in samples[0].tensor_proto.string_val]
    assert cells[:6] == ["source", "translation", "reference", "s0", "t0", "t0"]
    # As text, not as Markdown.
    assert cells[6:9] == [r"\*s\*\|1 &lt;b&gt;", r"\*t\*\|1 &lt;b&gt;", "t1"]
    assert samples[0].tensor_proto.tensor_shape.dim[1].size == 3


@pytest.mark.system
@pytest.mark.parametrize("sampled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_real_model(tmp_path, sampled):
    translator = tiny.translator(*tiny.texts(), search=ks.Greedy())
    model = translator.model
    if sampled:  # the inner model is what translates and is kept
        model = ks.models.ScheduledSampling(model, ks.models.ConstantProbability(0.1))
    model.compile(
        keras.optimizers.Adam(0.05, use_ema=True, ema_momentum=0.5),
        ks.losses.SmoothedCrossentropy(0.0),
        weighted_metrics=[ks.metrics.TokenAccuracy(), ks.metrics.Perplexity()],
    )
    rate = functools.partial(ks.metrics.token_error_rate, tokenize=list)
    cer = ks.metrics.TextMetric("cer", rate, False)
    validated = (tiny.SOURCES, tiny.TARGETS), [cer, "chrf"]
    callback = ks.callbacks.Validation(translator, *validated, folder=tmp_path)
    dataset = translator.dataset(tiny.PAIRS, batch_size=4)
    options = {"shuffle": False, "epochs": 6, "verbose": 0, "callbacks": [callback]}
    history = model.fit(dataset, **options).history
    for name in ("perplexity", "val_cer"):
        assert history[name][-1] < history[name][0]
    assert history["token_accuracy"][-1] > history["token_accuracy"][0]
    best = min(history["val_cer"])
    assert best == callback.best["values"]["cer"]
    assert cer(translator.translate(tiny.SOURCES).texts, tiny.TARGETS) == best
    fresh = tiny.model(*tiny.texts(), seed=2)
    fresh.load_weights(tmp_path / "best.weights.h5")
    for a, b in zip(fresh.get_weights(), translator.model.get_weights(), strict=True):
        assert np.array_equal(a, b)
