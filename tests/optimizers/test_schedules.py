"""Learning rates at the steps where they change, by hand and by the peers' formulas."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks

HalvingDecay = ks.optimizers.HalvingDecay
HALVING = HalvingDecay(1.0, start=5, every=2, times=3, warmup=4, name="h")
RNMT = ks.optimizers.RNMTPlusSchedule(4, start=8000, end=16000, warmup=100, name="r")


def rates(schedule, steps):
    return [float(schedule(step)) for step in steps]


MILLIONS = [0, 1_199_999, 1_200_000, 1_400_000, 1_600_000, 1_800_000, 3_000_000]
FALLING = [0.5, 0.25, 0.125, 0.0625, 0.03125]
LONG = HalvingDecay(1.0, start=2**24 + 1, every=2**24)
HALVED = {  # the schedule, its rates, their steps if not 0, 1, 2, ...
    "halving": (HalvingDecay(2.0, 5, 2), [2.0] * 5 + [1.0, 1.0, 0.5, 0.5, 0.25]),
    "times": (HalvingDecay(1.0, 1, 1, times=2), [1.0, 0.5, 0.25, 0.25, 0.25]),
    "beyond float32": (LONG, [1.0, 0.5], [2**24, 2**24 + 1]),
    "gnmt2016": (HalvingDecay.gnmt2016(), [0.5, *FALLING, FALLING[-1]], MILLIONS),
}
# 10 epochs, halved every epoch after epoch 5; with dropout 12 epochs, and 8.
EPOCHS = [(False, [1.0] * 5 + FALLING), (True, [1.0] * 8 + FALLING[:4])]


@pytest.mark.parametrize("name", HALVED)
def test_halving(name):
    schedule, expected, *steps = HALVED[name]
    assert rates(schedule, *(steps or [range(len(expected))])) == expected


@pytest.mark.parametrize("dropout, expected", EPOCHS)
def test_luong2015(dropout, expected):
    schedule = HalvingDecay.luong2015(100, dropout=dropout)
    assert rates(schedule, range(0, 100 * len(expected), 100)) == expected
    if not dropout:
        assert rates(schedule, [499, 500, 599]) == [1.0, 0.5, 0.5]


def test_warmup():
    schedule = HalvingDecay(1.0, start=100, every=1, warmup=4)
    expected = [0.01, 0.01**0.75, 0.1, 0.01**0.25, 1.0, 1.0]
    np.testing.assert_allclose(rates(schedule, range(6)), expected, rtol=1e-5)


@pytest.mark.parametrize("training_steps", [12_000, 340_000, 777])
@pytest.mark.parametrize(
    "scheme, share, stretches",
    [("luong5", 1 / 2, 5), ("luong10", 1 / 2, 10), ("luong234", 2 / 3, 4)],
)
def test_tensorflow_nmt(scheme, share, stretches, training_steps):
    """Its formula: staircase decay that counts from the start of the decay."""
    schedule = HalvingDecay.tensorflow_nmt(scheme, training_steps, warmup=50)
    start = int(training_steps * share)
    every = int((training_steps - start) / stretches)
    steps = np.unique(np.linspace(0, training_steps, 60).astype(int))
    steps = [*steps, start - 1, start, start + every - 1, start + every]
    for step in steps:
        expected = 0.5 ** ((step - start) // every) if step >= start else 1.0
        expected *= 0.01 ** ((50 - step) / 50) if step < 50 else 1.0
        np.testing.assert_allclose(schedule(step), expected, rtol=1e-5)


def test_tensorflow_nmt_recipes():
    """Its README: IWSLT 12K steps, "after 8K"; WMT 340K, "after 170K", "every 17K"."""
    iwslt = HalvingDecay.tensorflow_nmt("luong234", 12_000)
    assert (iwslt.start - iwslt.every, iwslt.every) == (8_000, 1_000)
    wmt = HalvingDecay.tensorflow_nmt("luong10", 340_000)
    assert (wmt.start - wmt.every, wmt.every) == (170_000, 17_000)


@pytest.mark.parametrize("training_steps", [10_000, 3_333])
def test_nvidia_gnmt(training_steps):
    schedule = HalvingDecay.nvidia_gnmt(training_steps, 1e-3)
    start = int(0.666 * training_steps)
    every = (training_steps - start) // 4
    for step in [0, 100, 200, 201, start - 1, *range(start, training_steps, 99)]:
        if step <= 200:
            expected = 1e-3 * 0.01 ** ((200 - step) / 200)
        elif step < start:
            expected = 1e-3
        else:
            expected = 1e-3 * 0.5 ** min((step - start) // every + 1, 4)
        np.testing.assert_allclose(schedule(step), expected, rtol=1e-5)


def test_short_trainings_still_have_a_schedule():
    for training_steps in (1, 2, 3):
        schedule = HalvingDecay.tensorflow_nmt("luong10", training_steps)
        assert schedule(0) == 1.0
        assert np.isfinite(HalvingDecay.nvidia_gnmt(training_steps, 1e-3)(0))


@pytest.mark.parametrize("replicas", [1, 4, 32])
def test_rnmt_plus(replicas):
    n, p, s, e = replicas, 500, 600_000, 1_200_000
    schedule = ks.optimizers.RNMTPlusSchedule(n, start=s, end=e)
    for t in [0, 1, 250 * n, 500 * n, 501 * n, s // n, (s + e) // (2 * n), e // n]:
        with np.errstate(over="ignore"):
            fall = n * np.power(2.0 * n, (s - n * t) / (e - s))
        expected = 1e-4 * min(1 + t * (n - 1) / (n * p), n, fall)
        np.testing.assert_allclose(schedule(t), expected, rtol=1e-4)
    assert float(schedule(0)) == pytest.approx(1e-4)
    assert float(schedule(e // n)) == pytest.approx(0.5e-4, rel=1e-4)


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("schedule", [HALVING, RNMT], ids=["halving", "rnmt"])
def test_in_an_optimizer(schedule, jit_compile):
    """The gradient is one: each step of SGD moves the weight by its learning rate."""
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    optimizer, loss = keras.optimizers.SGD(schedule), {}
    loss["loss"] = lambda y, x: keras.ops.sum(x, axis=-1)
    model.compile(optimizer, jit_compile=jit_compile, **loss)
    start = model.get_weights()[0]
    model.fit(np.ones((10, 1)), np.ones((10, 1)), batch_size=1, verbose=0)
    moved = (start - model.get_weights()[0])[0, 0]
    np.testing.assert_allclose(moved, sum(rates(schedule, range(10))), rtol=1e-4)


@pytest.mark.parametrize("schedule", [HALVING, RNMT], ids=["halving", "rnmt"])
def test_config(schedule):
    serialize = keras.optimizers.schedules.serialize
    again = keras.optimizers.schedules.deserialize(serialize(schedule))
    assert type(again) is type(schedule)
    assert again.get_config() == schedule.get_config()
    optimizer = keras.optimizers.SGD(schedule)
    optimizer = keras.optimizers.SGD.from_config(optimizer.get_config())
    assert optimizer.get_config()["learning_rate"] == serialize(schedule)
