"""Scheduled sampling: the mixed inputs, the gradients, and saving."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks

V = 7
TARGET = np.array([[1, 4, 5, 6, 0], [1, 3, 0, 0, 0], [1, 6, 6, 5, 4]])
LABELS = np.array([[4, 5, 6, 2, 0], [3, 2, 0, 0, 0], [6, 6, 5, 4, 2]])
INPUTS = {"source": TARGET, "target": TARGET}
REPLACEABLE = (TARGET != 0) & (np.arange(5) > 0)


def stand_in(*layers):
    """Return a small model: layers on the target ids."""
    inputs = {
        name: keras.Input((None,), dtype="int32", name=name)
        for name in ("source", "target")
    }
    return keras.Model(inputs, keras.Sequential(layers)(inputs["target"]))


def bigrams(table=None):
    """Return a model whose logits depend on one token and identify it."""
    model = stand_in(keras.layers.Embedding(V, V, "normal", mask_zero=True))
    if table is not None:
        model.set_weights([table])
    return model


def recurrent(dropout=0.0):
    return stand_in(
        keras.layers.Embedding(V, 4, "normal", mask_zero=True),
        keras.layers.Dropout(dropout, seed=5),
        keras.layers.SimpleRNN(4, return_sequences=True),
        keras.layers.Dense(V),
    )


def attentive():
    cell = ks.layers.LuongCell(4, ks.LuongAttention("dot"), cell="simple")
    return ks.Seq2Seq(
        keras.layers.Embedding(V, 4, "normal"),
        ks.layers.UniEncoder(4, cell="simple"),
        ks.AttentionDecoder(cell),
        ks.layers.OutputHead(V),
    )


MODELS = {"recurrent": recurrent, "attentive": attentive}


def compiled(model, optimizer="sgd", jit_compile=False, run_eagerly=False):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    options = {"jit_compile": jit_compile, "run_eagerly": run_eagerly}
    model.compile(optimizer, loss, **options)
    return model


def scheduled(model, probability, **options):
    return compiled(ks.models.ScheduledSampling(model, probability, **options))


def always(model, **options):
    return scheduled(model, ks.models.ConstantProbability(1.0), **options)


def fed(wrapper, target):
    """Return the target inputs of the second pass, from the logits of `bigrams`."""
    logits = np.array(wrapper({"source": target, "target": target}, training=True))
    table = wrapper.model.get_weights()[0]
    return np.abs(logits[..., None, :] - table).sum(axis=-1).argmin(axis=-1)


def own(model, target=TARGET):
    """Return the target with every replaceable input replaced by the model's token."""
    logits = np.array(model({"source": target, "target": target}, training=False))
    logits[..., 0] = -np.inf
    tokens = np.pad(logits.argmax(axis=-1)[:, :-1], ((0, 0), (1, 0)))
    return np.where(REPLACEABLE, tokens, target)


# Which tokens -------------------------------------------------------------------------


def test_always_at_probability_one():
    """Each token becomes the model's token after the true one before it."""
    model = bigrams()
    mixed = fed(always(model, use_argmax=True), TARGET)
    assert np.array_equal(mixed, own(model))
    assert not np.array_equal(mixed, TARGET)


LEFT = np.array([[0, 0, 1, 4, 5], [0, 0, 0, 0, 1]])


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (TARGET, np.where(REPLACEABLE, 5, TARGET)),
        (LEFT, [[0, 0, 1, 5, 5], [0, 0, 0, 0, 1]]),
    ],
    ids=["right", "left"],
)
def test_start_and_padding_stay(target, expected):
    wrapper = always(bigrams(np.eye(V)[[5] * V] * 100 + np.eye(V)))
    assert np.array_equal(fed(wrapper, target), expected)


@pytest.mark.parametrize("use_argmax", [False, True])
def test_padding_is_never_drawn(use_argmax):
    """Padding inside a target would change its mask."""
    wrapper = always(
        bigrams(np.eye(V)[[0] * V] * 50 + np.eye(V)), use_argmax=use_argmax
    )
    assert np.array_equal(fed(wrapper, TARGET) != 0, TARGET != 0)


def test_pad_of_the_model():
    class Padded(keras.Model):
        pad = 3

    def pad(model, **options):
        never = ks.models.ConstantProbability(0.0)
        return ks.models.ScheduledSampling(model, never, **options).pad

    assert (pad(Padded()), pad(Padded(), pad=4), pad(bigrams())) == (3, 4, 0)


def test_frequencies():
    """Tokens are replaced with the right probability, by tokens of the model."""
    probabilities = np.array([0.0, 0.0, 0.1, 0.2, 0.3, 0.4, 0.0])
    table = np.log(np.tile(probabilities, (V, 1)) + 1e-9) + 1e-3 * np.eye(V)
    target = np.full((200, 51), 6)
    target[:, 0] = 1
    wrapper = scheduled(bigrams(table), ks.models.ConstantProbability(0.4), seed=1)
    mixed = fed(wrapper, target)[:, 1:]
    replaced = mixed[mixed != 6]
    assert abs(len(replaced) / mixed.size - 0.4) < 0.02
    frequencies = np.bincount(replaced, minlength=V) / len(replaced)
    np.testing.assert_allclose(frequencies, probabilities, atol=0.03)


def test_seed():
    table = bigrams().get_weights()[0]
    drawn = [
        [fed(wrapper, TARGET) for _ in range(2)]
        for wrapper in (always(bigrams(table), seed=seed) for seed in (1, 1, 2))
    ]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert not np.array_equal(drawn[0][0], drawn[0][1])  # new ones in the next step


# Training -----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: recurrent(dropout=0.5), attentive])
def test_fit_at_probability_zero_is_that_of_the_model(make):
    """All bits are equal with dropout, too: the first pass draws no masks."""
    models = [make(), make()]
    models[1].set_weights(models[0].get_weights())
    wrapper = ks.models.ScheduledSampling(models[1], ks.models.ConstantProbability(0.0))
    plain, ours = (
        compiled(model, run_eagerly=True).fit(INPUTS, LABELS, epochs=2, verbose=0)
        for model in (models[0], wrapper)
    )
    assert plain.history == ours.history
    for a, b in zip(*(m.get_weights() for m in models), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("name", MODELS)
def test_loss_and_gradient_are_those_of_the_second_pass(name):
    model = MODELS[name]()
    wrapper = always(model, use_argmax=True)
    mixed = own(model)
    assert not np.array_equal(mixed, TARGET)
    results = []
    for forward in (
        lambda: wrapper(INPUTS, training=True),
        lambda: model({"source": TARGET, "target": mixed}, training=True),
    ):
        with tf.GradientTape() as tape:
            logits = forward()
            loss = wrapper.compute_loss(y=LABELS, y_pred=logits)
        assert np.array_equal(logits._keras_mask, TARGET != 0)
        results.append([loss, *tape.gradient(loss, model.trainable_weights)])
    for ours, expected in zip(*results, strict=True):
        ours, expected = map(tf.convert_to_tensor, (ours, expected))
        np.testing.assert_allclose(ours, expected, atol=1e-6)


@pytest.mark.parametrize(
    "name, jit_compile", [("recurrent", False), ("attentive", True)]
)
def test_steps_are_those_of_the_optimizer(name, jit_compile):
    """Step 0 has the true inputs, step 1 the model's tokens; the learning rate is 0."""
    model = MODELS[name]()
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.0))
    wrapper = ks.models.ScheduledSampling(
        model, ks.models.LinearProbability(1.0), use_argmax=True
    )
    compiled(wrapper, optimizer, jit_compile)
    losses = wrapper.fit(INPUTS, LABELS, epochs=3, verbose=0).history["loss"]
    expected = [
        wrapper.compute_loss(y=LABELS, y_pred=model({**INPUTS, "target": target}))
        for target in (TARGET, own(model), own(model))
    ]
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert losses[0] != pytest.approx(losses[1], rel=1e-4)


def test_without_training_it_is_the_model():
    model = recurrent(dropout=0.5)
    wrapper = always(model)
    assert np.array_equal(wrapper(INPUTS), model(INPUTS))
    plain = wrapper.compute_loss(y=LABELS, y_pred=model(INPUTS))
    evaluated = wrapper.evaluate(INPUTS, LABELS, verbose=0)
    np.testing.assert_allclose(evaluated, plain, rtol=1e-6)


def test_half_precision():
    keras.config.set_dtype_policy("mixed_bfloat16")
    wrapper = always(bigrams())
    assert wrapper(INPUTS, training=True).dtype == "bfloat16"
    assert np.isfinite(wrapper.train_on_batch(INPUTS, LABELS))


# Saving -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_reload(name, tmp_path):
    wrapper = scheduled(
        MODELS[name](), ks.models.LinearProbability(0.1), use_argmax=True, pad=0, seed=4
    )
    wrapper.fit(INPUTS, LABELS, verbose=0)
    wrapper.save(tmp_path / "scheduled.keras")
    again = keras.models.load_model(tmp_path / "scheduled.keras")
    assert again.get_config()["probability"] == wrapper.get_config()["probability"]
    assert (again.use_argmax, again.pad, again.seed) == (True, 0, 4)
    assert np.array_equal(again(INPUTS), wrapper(INPUTS))
    assert again.optimizer.iterations == 1
    wrapper.model.save(tmp_path / "model.keras")
    inner = keras.models.load_model(tmp_path / "model.keras")
    assert np.array_equal(inner(INPUTS), wrapper(INPUTS))
