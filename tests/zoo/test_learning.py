"""The small presets learn: a little in the default run, all of it in the slow one.

Lengths are those that such a model can learn: with attention up to 10, without it up
to 5, since one state has to hold the whole sequence.
"""

import keras
import numpy as np
import pytest

from keras_seqattn import zoo
from tests.zoo.rows import ROWS
from tests.zoo.tasks import exact_match, random_pairs, train

pytestmark = pytest.mark.system
SEED, EXACT, STEPS = 1409, 0.95, 5


@pytest.mark.parametrize("name", ROWS)
def test_loss_falls_and_every_weight_is_trained(name):
    """Eager: a graph takes longer to trace than these few steps to run."""
    model = getattr(zoo, name)("small")
    pairs = random_pairs(np.random.default_rng(SEED), ROWS[name].task.name, 16, 3)
    inputs = {"source": pairs.source, "target": pairs.inputs}
    model(inputs)
    before = [weight.numpy() for weight in model.trainable_weights]
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(3e-2), loss, run_eagerly=True)
    history = model.fit(inputs, pairs.labels, epochs=STEPS, verbose=0).history
    assert history["loss"][-1] < history["loss"][0] - 0.2
    for weight, old in zip(model.trainable_weights, before, strict=True):
        assert np.any(weight.numpy() != old), weight.path


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_learns(name):
    task = ROWS[name].task
    keras.utils.set_random_seed(SEED)
    model, random = getattr(zoo, name)("small"), np.random.default_rng(SEED)
    train(model, random, *task)
    unseen = random_pairs(np.random.default_rng(SEED + 1), task.name, 500, task.longest)
    exact = exact_match(model, unseen)
    print(f"{name}: {task}, {exact:.1%} exact")
    assert exact >= EXACT
