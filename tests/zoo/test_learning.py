"""The small presets learn: a little in the default run, all of it in the slow one.

Lengths are those that such a model can learn: with attention up to 10, without it up
to 5, since one state has to hold the whole sequence.
"""

import keras
import numpy as np
import pytest

from keras_seqattn import zoo
from tests.zoo.rows import NAMES, ROWS
from tests.zoo.tasks import exact_match, random_pairs, train

pytestmark = pytest.mark.system
SEED, EXACT = 1409, 0.95


@pytest.mark.parametrize("name", NAMES)
def test_loss_falls(name):
    model = getattr(zoo, name)("small")
    losses, _ = train(
        model,
        np.random.default_rng(SEED),
        ROWS[name].task,
        longest=4,
        steps=30,
        batch=32,
        jit_compile=False,  # XLA would compile longer than it runs
    )
    assert losses[-5:].mean() < losses[:5].mean() - 0.2, losses


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_learns(name):
    row = ROWS[name]
    keras.utils.set_random_seed(SEED)
    model, random = getattr(zoo, name)("small"), np.random.default_rng(SEED)
    task = row.task, row.longest
    _, seconds = train(model, random, *task, row.steps, row.learning_rate)
    unseen = random_pairs(np.random.default_rng(SEED + 1), row.task, 500, row.longest)
    exact = exact_match(model, unseen)
    print(
        f"{name}: {row.task}, 1 to {row.longest} symbols, {row.steps} steps in "
        f"{seconds:.0f} s, {exact:.1%} exact"
    )
    assert exact >= EXACT
