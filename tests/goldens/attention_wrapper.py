"""The nine mean-value tests of TensorFlow Addons' attention_wrapper_test.py (d208d752).

Source of the expected means: tensorflow/addons, tensorflow_addons/seq2seq/tests/
attention_wrapper_test.py. The recipe: an LSTM of 9 units with input feeding (cell input
[x_t; a_{t-1}], a_0 = 0), query h_t, output [h_t; c_t] @ W or the context itself; three
steps for every row; padded memory is zero. Monotonic rows take the closed form
p * E * cumsum(previous / clip(E, 1e-10, 1)), E = exclusive cumprod(1 - p). First and
last output are derived from the same inputs, not printed there.
"""

import functools
from typing import NamedTuple

import numpy as np
import tensorflow as tf

UNITS = 9
STEPS = 3
SOURCE_LENGTHS = (3, 2, 3, 1, 1)
SEED = 87654321
ATTENTIONAL_UNITS = 6
LIMIT = np.sqrt(6.0 / (19 + 6))  # Glorot uniform, [h; c] of 9 + 10 to 6
PHILOX_SEEDS = {"seed": 87654321, "seed2": 1337}  # of TensorFlow's stateful Philox


class Means(NamedTuple):
    """What the peer's tests average; None where a test does not look."""

    output: float  # over [5, 3, depth]
    argmax: float  # of the index of the largest output, over [5, 3]
    final_h: float
    final_c: float
    final_attention: float  # the last step's output
    final_alignment: float
    history: float | None  # all alignments, over [3, 5, 8]


class Row(NamedTuple):
    """One test: which mechanism, and the means it must give."""

    score: str  # "bahdanau" or "luong"
    means: Means
    normalised: bool = False  # Bahdanau's v / ||v||, or Luong's scale = 1
    monotonic: bool = False
    attentional: bool = True  # False: the context is the output


_LUONG = Means(-0.06124732, 2.7333333, 0.52021580, 1.0964939, -0.0318060, 0.125, None)
_LUONG_MONOTONIC = Means(
    *(0.003664831, 3.0666667, 0.54318606, 1.12592840),
    *(0.059128221, 0.05112994, 0.06994973868),
)
# Not published: the same two rows without the loss that the peer's closed form has
# where cumprod(1 - p) falls under its floor of 1e-10 (here in the third step). This is
# what Raffel's recursion (13), (14) gives; derived with it in float64.
LUONG_MONOTONIC_EXACT = Means(
    *(0.004564383214, 3.0666667, 0.543185864475, 1.125928282266),
    *(0.061826883618, 0.060719462300, 0.073146243710),
)
ROWS = {
    "not_use_attention_layer": Row(
        "bahdanau",
        Means(0.078317143, 4.2, 0.89382392, 1.722382, 0.026356646, 0.125, None),
        attentional=False,
    ),
    "bahdanau_not_normalized": Row(
        "bahdanau",
        Means(-0.003204414, 3.2, 0.40868404, 0.89017969, 0.041453815, 0.125, 0.125),
    ),
    "bahdanau_normalized": Row(
        "bahdanau",
        Means(-0.008089137, 2.8, 0.49166861, 1.01068615, 0.042427111, 0.125, None),
        normalised=True,
    ),
    "luong_not_normalized": Row("luong", _LUONG),
    "luong_scaled": Row("luong", _LUONG, normalised=True),
    "bahdanau_monotonic_not_normalized": Row(
        "bahdanau",
        Means(
            *(-0.009921653, 3.1333333, 0.44612807, 0.95786464),
            *(0.038682378, 0.09778417, 0.10261579603),
        ),
        monotonic=True,
    ),
    "bahdanau_monotonic_normalized": Row(
        "bahdanau",
        Means(
            *(0.007140680, 3.2666667, 0.47012400, 1.0249618),
            *(0.068432882, 0.0615656, 0.07909643),
        ),
        *(True, True),
    ),
    "luong_monotonic_not_normalized": Row("luong", _LUONG_MONOTONIC, monotonic=True),
    "luong_monotonic_scaled": Row("luong", _LUONG_MONOTONIC, True, monotonic=True),
}

# Outputs of the row without W: row 0 at step 0, row 4 at step 2.
FIRST_OUTPUT = (
    (-0.979705, 1.73705, -1.119269, 0.916363, 1.64556)
    + (-0.463498, 0.815982, 1.758007, -0.953163, 0.44973)
)  # fmt: skip
LAST_OUTPUT = (
    (0.289007, 0.037908, -1.14651, -2.589538, 0.924008)
    + (0.303546, 0.976862, 0.358364, -0.405022, -0.998883)
)  # fmt: skip


def inputs():
    """Decoder inputs [5, 3, 7], zero-padded memory [5, 8, 10], mask [5, 8]."""
    decoder, memory = draw()
    mask = np.arange(8) < np.array(SOURCE_LENGTHS)[:, None]
    return decoder[:, :STEPS], np.where(mask[..., None], memory, 0.0), mask


def draw():
    """The raw draws [5, 4, 7] and [5, 8, 10], float32, after the peer's burnt ones."""
    random = np.random.RandomState(SEED)
    random.randn(64, 10, 256)
    random.randint(1, high=10, size=(64,))
    random.randn(64, 12, 128)
    random.randint(12, size=(64,))
    decoder = random.randn(5, 4, 7).astype("float32")
    memory = random.randn(5, 8, 10).astype("float32")
    return decoder, memory


@functools.cache
def attentional_kernel():
    """W [19, 6] for [h; c], float32: h's nine rows first (the paper has [c; h])."""
    draw = tf.function(  # a fresh graph: the op's counter starts at zero
        lambda: tf.raw_ops.RandomUniform(shape=[19, 6], dtype="float32", **PHILOX_SEEDS)
    )
    return (draw().numpy() * np.float32(2.0) - np.float32(1.0)) * np.float32(LIMIT)


def attentional_kernel_context_first():
    """The same W with its rows in the paper's order, [c; h]."""
    return np.roll(attentional_kernel(), -UNITS, axis=0)


def fill(variables, row):
    """Kernels of ones and biases of zeros; g is 1 / sqrt(units), Luong's scale is 1."""
    values = {"bias": 0.0, "r": 0.0, "g": 3**-0.5 if row.score == "bahdanau" else 1.0}
    for variable in variables:
        variable.assign(np.full(variable.shape, values.get(variable.name, 1.0)))


def means_of(outputs, alignments, final_h, final_c):
    """The means of [5, 3, depth] outputs, [5, 3, 8] alignments, [5, 9] states."""
    outputs, alignments = np.asarray(outputs), np.asarray(alignments)
    return Means(
        output=outputs.mean(),
        argmax=outputs.argmax(axis=-1).mean(),
        final_h=np.mean(final_h),
        final_c=np.mean(final_c),
        final_attention=outputs[:, -1].mean(),
        final_alignment=alignments[:, -1].mean(),
        history=alignments.mean(),
    )


def check(row, outputs, alignments, final_h, final_c, tolerance=1e-5):
    """Raise AssertionError with both numbers where a mean is off."""
    got = means_of(outputs, alignments, final_h, final_c)
    for name, expected in row.means._asdict().items():
        if expected is not None:
            bounds = {"rtol": 0, "atol": tolerance, "err_msg": name}
            np.testing.assert_allclose(getattr(got, name), expected, **bounds)
