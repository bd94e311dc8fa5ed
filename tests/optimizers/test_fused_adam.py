"""FusedAdam is Keras's Adam: weights, moments and checkpoints."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.optimizers import FusedAdam

RNG = np.random.default_rng(3)
START = [RNG.normal(size=shape).astype("float32") for shape in ((5, 3), (3,), ())]
GRADIENTS = [
    [RNG.normal(size=value.shape).astype("float32") for value in START]
    for _ in range(4)
]


def trained(make, options, jit=False, rows=None):
    weights = [keras.Variable(value) for value in START]
    optimizer = make(**options)
    optimizer.build(weights)

    @tf.function(jit_compile=jit, autograph=False)
    def step(*gradients):
        of_rows, *others = gradients
        if rows:  # as of an embedding: a row twice, others never
            read = tf.IndexedSlices(of_rows[:3], tf.constant([1, 4, 1]), (5, 3))
            of_rows = read if rows == "sparse" else tf.convert_to_tensor(read)
        optimizer.apply([of_rows, *others], weights)

    for gradients in GRADIENTS:
        step(*gradients)
    return [*weights, *optimizer.variables]


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=3e-6)


@pytest.mark.product
@pytest.mark.parametrize(
    "options",
    [
        {"learning_rate": 0.1, "beta_1": 0.5, "beta_2": 0.8, "epsilon": 1e-3},
        {"learning_rate": keras.optimizers.schedules.CosineDecay(0.1, 5)},
        {"global_clipnorm": 0.5, "weight_decay": 0.01},
        *[{"use_ema": True, "ema_momentum": 0.5}, {"gradient_accumulation_steps": 2}],
        *[{"amsgrad": True}, {}],
    ],
    ids=lambda options: "-".join(options) or "default",
)
@pytest.mark.parametrize("jit", [False, True], ids=["", "xla"])
def test_equals_keras(options, jit):
    ours = trained(FusedAdam, options, jit)
    same(ours, trained(keras.optimizers.Adam, options, jit))


@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.01}, {"amsgrad": True}])
def test_a_scale_is_another_learning_rate_for_one_variable(options):
    """Weights with a scale are those of an optimizer with that learning rate."""

    def make(**options):
        optimizer = FusedAdam(**options)
        build = optimizer.build

        def scaled_build(variables):
            variables[0].learning_rate_scale = 0.5
            build(variables)

        optimizer.build = scaled_build
        return optimizer

    ours = trained(make, {"learning_rate": 0.1, **options})
    slow, full = (
        trained(keras.optimizers.Adam, {"learning_rate": rate, **options})
        for rate in (0.05, 0.1)
    )
    same(ours[:3], [slow[0], *full[1:3]])


def test_rows_of_an_embedding():
    ours = trained(FusedAdam, {}, rows="sparse")
    theirs = trained(keras.optimizers.Adam, {}, rows="dense")
    same(ours, theirs)


def test_goes_on_where_keras_stopped():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    x, y = RNG.normal(size=(8, 3)), RNG.normal(size=(8, 2))
    model.compile(keras.optimizers.Adam(0.1), "mse")
    model.fit(x, y, epochs=2, verbose=0)
    stopped, weights = state(model.optimizer), model.get_weights()
    found = []
    for make in (keras.optimizers.Adam, FusedAdam):
        model.set_weights(weights)
        model.compile(make(0.1), "mse")
        model.optimizer.build(model.trainable_variables)
        assert state(model.optimizer).keys() == stopped.keys()
        variables = model.optimizer.variables
        for variable, value in zip(variables, stopped.values(), strict=True):
            variable.assign(value)
        model.fit(x, y, epochs=2, verbose=0, shuffle=False)
        found.append(model.get_weights())
    same(*found)


def state(optimizer):
    return {v.path.split("/", 1)[1]: np.asarray(v) for v in optimizer.variables}


def test_is_saved_with_the_model(tmp_path):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile(FusedAdam(0.1, beta_1=0.5), "mse")
    model.fit(np.ones((2, 3)), np.ones((2, 2)), verbose=0)
    model.save(tmp_path / "m.keras")
    again = keras.saving.load_model(tmp_path / "m.keras").optimizer
    assert type(again) is FusedAdam
    assert again.beta_1 == 0.5
    same(again.variables, model.optimizer.variables)
