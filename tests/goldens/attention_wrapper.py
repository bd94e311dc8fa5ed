"""The nine mean-value tests of TensorFlow Addons' attention_wrapper_test.py (d208d752).

Source of the expected means: tensorflow/addons, tensorflow_addons/seq2seq/tests/
attention_wrapper_test.py. The recipe: an LSTM of 9 units with input feeding (cell input
[x_t; a_{t-1}], a_0 = 0), query h_t, output [h_t; c_t] @ W or the context itself; three
steps for every row; padded memory is zero. Monotonic rows take the closed form
p * E * cumsum(previous / clip(E, 1e-10, 1)), E = exclusive cumprod(1 - p). First and
last output are derived from the same inputs, not printed there.
"""

from typing import NamedTuple

import numpy as np

UNITS = 9
STEPS = 3
SOURCE_LENGTHS = (3, 2, 3, 1, 1)
SEED = 87654321
ATTENTIONAL_UNITS = 6
LIMIT = np.sqrt(6.0 / (19 + 6))  # Glorot uniform, [h; c] of 9 + 10 to 6
PHILOX_SEEDS = (87654321, 1337)  # seed, seed2 of TensorFlow's stateful Philox

# The uniform draws behind W, as multiples of 2 ** -23.
DRAWS = (
    (1809552, 7627300, 1878724, 1541153, 760818, 4102582),
    (3399866, 582841, 7856504, 6427281, 5654098, 1373269),
    (1807300, 1301699, 2350410, 2758270, 3390787, 3812571),
    (2365963, 7619325, 2197441, 5237242, 7418064, 5785591),
    (7547533, 729177, 7320827, 2455353, 5490229, 6242846),
    (2436373, 164454, 5482881, 5487658, 6369623, 3947582),
    (4542654, 4087525, 6270443, 6238390, 7947820, 6374115),
    (6198255, 5086186, 7090451, 4662427, 7220515, 451934),
    (7550847, 1163653, 7941469, 7671214, 3325676, 2650213),
    (2298735, 455391, 1658851, 2997481, 6239441, 5269818),
    (4714627, 1424012, 583415, 7360605, 5159873, 7764930),
    (1589191, 6867104, 1981784, 7846700, 5041799, 1691108),
    (5129595, 5501510, 742754, 7558358, 733243, 3798303),
    (2712539, 1350620, 5927831, 6049509, 81134, 4210032),
    (2518972, 4096845, 7571350, 2640926, 3415061, 2432048),
    (5882253, 2078021, 207375, 1679042, 6950350, 7931614),
    (1093059, 8351683, 3863927, 3961318, 5047485, 1507347),
    (3042402, 7020331, 3042423, 8196320, 7517252, 4042719),
    (2217049, 5950501, 442733, 3510987, 4896260, 3955684),
)


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
    normalised: bool  # Bahdanau's v / ||v||, or Luong's scale = 1
    monotonic: bool
    attentional: bool  # False: the context is the output
    means: Means


_LUONG = Means(-0.06124732, 2.7333333, 0.52021580, 1.0964939, -0.0318060, 0.125, None)
_LUONG_MONOTONIC = Means(
    0.003664831,
    3.0666667,
    0.54318606,
    1.12592840,
    0.059128221,
    0.05112994,
    0.06994973868,
)
# Not published: the same two rows without the loss that the peer's closed form has
# where cumprod(1 - p) falls under its floor of 1e-10 (here in the third step). This is
# what Raffel's recursion (13), (14) gives; derived with it in float64.
LUONG_MONOTONIC_EXACT = Means(
    0.004564383214,
    3.0666667,
    0.543185864475,
    1.125928282266,
    0.061826883618,
    0.060719462300,
    0.073146243710,
)

ROWS = {
    "not_use_attention_layer": Row(
        "bahdanau",
        False,
        False,
        False,
        Means(0.078317143, 4.2, 0.89382392, 1.722382, 0.026356646, 0.125, None),
    ),
    "bahdanau_not_normalized": Row(
        "bahdanau",
        False,
        False,
        True,
        Means(-0.003204414, 3.2, 0.40868404, 0.89017969, 0.041453815, 0.125, 0.125),
    ),
    "bahdanau_normalized": Row(
        "bahdanau",
        True,
        False,
        True,
        Means(-0.008089137, 2.8, 0.49166861, 1.01068615, 0.042427111, 0.125, None),
    ),
    "luong_not_normalized": Row("luong", False, False, True, _LUONG),
    "luong_scaled": Row("luong", True, False, True, _LUONG),
    "bahdanau_monotonic_not_normalized": Row(
        "bahdanau",
        False,
        True,
        True,
        Means(
            -0.009921653,
            3.1333333,
            0.44612807,
            0.95786464,
            0.038682378,
            0.09778417,
            0.10261579603,
        ),
    ),
    "bahdanau_monotonic_normalized": Row(
        "bahdanau",
        True,
        True,
        True,
        Means(
            0.007140680,
            3.2666667,
            0.47012400,
            1.0249618,
            0.068432882,
            0.0615656,
            0.07909643,
        ),
    ),
    "luong_monotonic_not_normalized": Row("luong", False, True, True, _LUONG_MONOTONIC),
    "luong_monotonic_scaled": Row("luong", True, True, True, _LUONG_MONOTONIC),
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


def attentional_kernel():
    """W [19, 6] for [h; c], float32: h's nine rows first (the paper has [c; h])."""
    uniform = np.array(DRAWS, dtype="float32") * np.float32(2.0**-23)
    return (uniform * np.float32(2.0) - np.float32(1.0)) * np.float32(LIMIT)


def attentional_kernel_context_first():
    """The same W with its rows in the paper's order, [c; h]."""
    kernel = attentional_kernel()
    return np.concatenate([kernel[UNITS:], kernel[:UNITS]])


def lstm_weights(row):
    """kernel [7 + fed, 36], recurrent_kernel [9, 36], bias [36]; gates i, f, c, o."""
    fed = ATTENTIONAL_UNITS if row.attentional else 10
    bias = np.zeros(4 * UNITS, dtype="float32")
    bias[UNITS : 2 * UNITS] = 1.0  # the forget gate
    return {
        "kernel": np.ones([7 + fed, 4 * UNITS], dtype="float32"),
        "recurrent_kernel": np.ones([UNITS, 4 * UNITS], dtype="float32"),
        "bias": bias,
    }


def score_weights(row):
    """Kernels of ones; Bahdanau with units 3, Luong's keys with depth 9 (no query)."""
    if row.score == "luong":
        return {"key_kernel": np.ones([10, UNITS], dtype="float32")}
    weights = {
        "query_kernel": np.ones([UNITS, 3], dtype="float32"),
        "key_kernel": np.ones([10, 3], dtype="float32"),
        "v": np.ones(3, dtype="float32"),
    }
    if row.normalised:
        weights["g"] = np.float32(np.sqrt(1.0 / 3.0))
        weights["b"] = np.zeros(3, dtype="float32")
    return weights


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
            np.testing.assert_allclose(
                getattr(got, name), expected, rtol=0, atol=tolerance, err_msg=name
            )
