"""Every decoder cell learns to write sequences backwards, and looks where it should.

Encoder and attention decoder are two layers of a Functional model; 20 symbols, lengths
1 to 20 (for `ContextCell` 1 to 8), fresh random sequences throughout. Exact match is
free-running: the decoder reads what it wrote itself. Sizes and learning rate were
chosen with the seeds 0, 1 and 2; the tests use another.
"""

import time

import keras
import numpy as np
import pytest

from benchmarks.machine import gemm_peak
from examples import reverse
from tests.system import reverse_task

SEED = 1409
# Seconds for training, tracing included: promised for two cores to ourselves whose
# products reach this peak. A slower machine may take longer in proportion.
LIMIT, PEAK = 60, 490e9
EXACT, AGREEMENT = 0.99, 0.95


@pytest.fixture
def train(request):
    """`reverse_task.train`; with --all, it may not take longer than promised.

    Other tests run beside this one: the clock stands for a machine that is all ours,
    the processor time for one that is shared. The smaller one is nearer to the truth.
    """

    def train(build, **options):
        peak = gemm_peak()
        clock, processor = time.perf_counter(), time.process_time()
        model, watch, _ = reverse_task.train(build, SEED, **options)
        seconds = min(time.perf_counter() - clock, time.process_time() - processor)
        limit = LIMIT * max(1.0, PEAK / min(peak, gemm_peak()))
        if request.config.getoption("--all"):
            assert seconds < limit, watch.measured
        return model, watch.mean_of_last()

    return train


def assert_reverses(model, longest):
    """Unseen by the training and by its stopping rule; free-running, then told."""
    pairs = reverse.random_pairs(np.random.default_rng(SEED + 1), 1000, longest)
    assert reverse.measure(model, pairs).exact >= EXACT
    logits = model({"source": pairs.source, "target": pairs.inputs}).numpy()
    told = (logits.argmax(axis=-1) == pairs.target) | (pairs.target == reverse.PAD)
    assert told.all(axis=1).mean() >= EXACT


@pytest.mark.system
@pytest.mark.parametrize(
    "build",
    [
        reverse_task.bahdanau,
        pytest.param(reverse_task.luong, marks=pytest.mark.slow),
        pytest.param(reverse_task.gnmt, marks=pytest.mark.slow),
    ],
)
@pytest.mark.timeout(1200)
def test_learns_to_reverse_along_the_anti_diagonal(build, train):
    model, last = train(build)
    assert_reverses(model, reverse.LONGEST)
    assert last.agreement >= AGREEMENT


@pytest.mark.system
@pytest.mark.slow
def test_without_attention_short_sequences_are_learned(train):
    longest = 8
    model, _ = train(
        reverse_task.context, longest=longest, steps=80, enough=(0.996, 0.0)
    )
    assert_reverses(model, longest)


@pytest.mark.system
def test_the_same_seed_gives_the_same_losses():
    def losses(seed):
        keras.utils.set_random_seed(seed)
        model, random = reverse_task.bahdanau(), np.random.default_rng(seed)
        size = {"longest": 5, "epochs": 2, "steps": 3}
        return reverse.train(model, random, **size, verbose=0).history["loss"]

    assert losses(SEED) == losses(SEED) != losses(SEED + 1)
