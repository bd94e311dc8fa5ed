"""Operations of one decoder step, counted from graphs."""

import keras
import pytest
import tensorflow as tf

from benchmarks import operations
from benchmarks.operations import Count, counted
from benchmarks.sizes import Size
from benchmarks.xla_kernels import Turn, turns

STEPS = 6


def test_a_loop_by_hand():
    weight = tf.Variable(tf.ones((3, 3)))

    def forward(x=None):
        x = tf.ones((2, 3)) if x is None else x
        for _ in tf.range(STEPS):
            x = tf.tanh(x @ weight)
        return tf.exp(x)  # outside

    def gradients():
        x = tf.ones((2, 3))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = forward(x)
        return tape.gradient(y, [x, weight])

    both = (tf.function(f).get_concrete_function() for f in (gradients, forward))
    before, after = operations.count(*both, STEPS)
    assert before.kernels == 2  # the product and the tanh
    # TanhGrad, the products for state and weight, and the sum of the latter.
    assert after.kernels == 4
    assert before.all > before.kernels and after.all > after.kernels


def test_a_loop_by_hand_compiled():
    @tf.function(jit_compile=True)
    def forward(x, weight, steps):  # XLA would unroll a number that it knows
        found = tf.TensorArray(tf.float32, STEPS)

        def step(i, x, found):
            x = tf.matmul(x, weight)
            return i + 1, x, found.write(i, x)

        *_, found = tf.while_loop(
            lambda i, *_: i < steps, step, (0, x, found), maximum_iterations=STEPS
        )
        return found.stack()

    given = tf.ones((2, 3)), tf.ones((3, 3)), tf.constant(STEPS)
    text = forward.experimental_get_compiler_ir(*given)(stage="optimized_hlo")
    [turn] = turns(text)
    assert turn.writes == 1  # of x; beside it the product, and at most a copy
    assert 2 <= turn.kernels <= 3


@pytest.mark.system
@pytest.mark.parametrize("make", [operations.our_decoder, operations.rival_decoder])
def test_sizes_and_lengths_do_not_count(make):
    small = Size(batch=3, source=5, target=4, embedding=6, units=7)
    large = Size(batch=4, source=9, target=12, embedding=16, units=24)
    keras.utils.set_random_seed(1)
    found = [counted(make(size), size) for size in (small, large)]
    for one, other in zip(*found, strict=True):
        assert one.kernels == other.kernels > 10  # whole numbers: the same every step
        assert one.all == pytest.approx(other.all, abs=2)  # conditions turn once more


def test_the_bar(monkeypatch, tmp_path, capsys):
    counts = {
        "ours": (Count(10.0, 40.0), Count(20.0, 60.0)),
        "rival": (Count(20.0, 50.0), Count(30.0, 90.0)),
    }
    monkeypatch.setattr(operations.store, "RESULTS", tmp_path)
    monkeypatch.setattr(operations, "our_decoder", lambda size: "ours")
    monkeypatch.setattr(operations, "rival_decoder", lambda size: "rival")
    monkeypatch.setattr(operations, "counted", counts.get)
    monkeypatch.setattr(operations, "launched", lambda made: (Turn(9, 3), Turn(8, 2)))
    assert operations.main() == 1
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["ours", "/", "it", "0.50", "0.67", "at", "most", "0.5"] in lines
    assert lines[-1] == ["keras.layers.RNN", "9", "3", "8", "2"]
    counts["ours"] = (Count(10.0, 40.0), Count(15.0, 60.0))
    assert operations.main() == 0
