"""The zoo in rows: what every function is asked for. No row, no green test."""

from typing import Any, NamedTuple

from keras_seqattn import zoo

NAMES = [name for name in zoo.__all__ if not name.endswith("_optimizer")]


class Size(NamedTuple):
    """Parameters by hand, without a look at the model."""

    preset: str
    parameters: int
    stated: Any = None  # what the paper says
    options: dict = {}


class Task(NamedTuple):
    """What the preset "small" learns: a name in `TASKS`, 1 to `longest` symbols."""

    name: str
    longest: int
    steps: int  # of Adam, on batches of 128
    learning_rate: float = 3e-3  # at first; it falls to zero along a cosine


class Optimizer(NamedTuple):
    """That of the paper: class, global norm, learning rates at some steps."""

    name: str
    clip: float
    rates: dict  # with 100 steps in an epoch


class Row(NamedTuple):
    """One zoo function; `variants` are options of "small" that make other models."""

    sizes: list  # presets above "small" must be among them
    task: Task
    optimizer: Optimizer
    variants: dict = {}


def lstm(depth, units):
    """W, U and one bias, for four gates."""
    return 4 * (units * (depth + units) + units)


def gru(depth, units):
    """W, U and one bias, for two gates and the proposal."""
    return 3 * (units * (depth + units) + units)


def simple(depth, units):
    return units * (depth + units) + units


def transformer(d, inner, n=6, vocabulary=37_000):
    """Keys have no bias. The paper's vocabulary is "about 37000"."""
    attention, norm = 4 * d * d + 3 * d, 2 * d
    dense = 2 * d * inner + inner + d
    encoder, decoder = attention + dense + 2 * norm, 2 * attention + dense + 3 * norm
    return vocabulary * d + n * (encoder + decoder)


def sutskever(source=160_000, target=80_000, n=1000):
    """384,000,000 without biases; those of the LSTMs are 32,000."""
    return n * source + n * target + 8 * lstm(n, n) + n * target


def cho(vocabulary=15_000, m=100, n=1000, maxout=500, rank=100):
    """18,250,000 without biases: three of the GRUs' 1000 each, V, V', maxout, words."""
    summary = 2 * (n * n + n)  # V and V'
    readout = 2 * maxout * (n + m + n) + 2 * maxout
    words = maxout * rank + rank * vocabulary + vocabulary
    return 2 * m * vocabulary + gru(m, n) + summary + gru(m + n, n) + readout + words


def bahdanau(vocabulary=30_000, m=620, n=1000, align=1000, maxout=500):
    """80,401,000 without biases: nine of the GRUs' 1000 each, maxout and words."""
    start = n * n  # W_s
    attention = align * (n + 2 * n) + align
    readout = 2 * maxout * (n + m + 2 * n) + 2 * maxout
    words = maxout * vocabulary + vocabulary
    decoder = gru(m + 2 * n, n) + attention + readout + words
    return 2 * m * vocabulary + 2 * gru(m, n) + start + decoder


def bilstm(vocabulary=32_000, m=512, n=512, layers=2):
    """Two layers on either side."""
    encoder = 2 * (lstm(m, n) + lstm(2 * n, n))
    starts = 2 * layers * (layers * 4 * n * n + n)  # h and c, of all h and c
    decoder = lstm(m + n, n) + lstm(n, n)
    return 2 * m * vocabulary + encoder + starts + decoder + (n + 1) * vocabulary


def luong(attention, fed=1000, vocabulary=50_000, n=1000, layers=4):
    """The attention's own weights are given. W_a, W_c and W_s have no biases."""
    recurrent = 2 * layers * lstm(n, n) + 4 * fed * n
    return 2 * n * vocabulary + recurrent + attention + 2 * n * n + n * vocabulary


def wang(vocabulary=16, m=32, n=64):
    """The small preset: a lecture has no other sizes."""
    attention = 2 * n * n + n
    networks = simple(m, n) + simple(m + n, n)
    return 2 * m * vocabulary + networks + attention + (2 * n + 1) * vocabulary


def gnmt(layers, vocabulary=32_000, n=1024):
    """The bottom decoder layer reads words, those above [x; a]; 1024 everywhere."""
    encoder = 2 * lstm(n, n) + lstm(2 * n, n) + (layers - 2) * lstm(n, n)
    attention = 2 * n * n + n
    decoder = lstm(n, n) + (layers - 1) * lstm(2 * n, n)
    return 2 * n * vocabulary + encoder + attention + decoder + (n + 1) * vocabulary


def nematus(vocabulary=90_000, m=512, n=1024, align=2048):
    """The words of the target count once: the embedding is the output matrix.

    Cells have no biases, but gain and bias for both products of every gate.
    """

    def cell(depth):
        return gru(depth, n) - 3 * n + 2 * (2 * 3 * n)

    start = 2 * n * n + n
    attention = align * (n + 2 * n) + align
    readout = m * (m + n + 2 * n) + m
    cells = 3 * cell(m) + cell(2 * n)  # two directions, GRU_1; GRU_2
    return 2 * m * vocabulary + start + attention + readout + cells + vocabulary


def lium(vocabulary=10_000, m=128, n=256, align=512):
    """A GRU of Keras has two biases; gain and bias of the norm; the rest as Nematus."""

    def cell(depth):
        return gru(depth, n) + 3 * n

    start = 2 * n * n + n
    attention = align * (n + 2 * n) + align
    readout = m * (m + n + 2 * n) + m
    cells = 3 * cell(m) + cell(2 * n) + 4 * n
    words = 3 * m * vocabulary + vocabulary
    return words + start + attention + readout + cells


def lium_without_attention(vocabulary=10_000, m=128, n=256):
    """Two starts, c at every step instead of c_t, and a readout that reads s and y."""

    def cell(depth):
        return gru(depth, n) + 3 * n

    start = 2 * (2 * n * n + n)
    readout = m * (m + n) + m
    cells = 2 * cell(m) + cell(m + n) + cell(n) + 4 * n
    return 3 * m * vocabulary + vocabulary + start + readout + cells


def rnmt(vocabulary=32_000, n=1024, below=6, above=8, is_shared=False):
    """Gain and bias for both products of every gate, and for c.

    With one matrix for all words, the readout is first projected to its width.
    """

    def cell(depth):
        return lstm(depth, n) - 4 * n + 2 * (2 * 4 * n) + 2 * n

    encoder = 2 * (cell(n) + (below - 1) * cell(2 * n))
    attention = n * n + 2 * (2 * n * n) + n * n + n  # W_a; U_a, W_V; W_O; v
    decoder = cell(n) + (above - 1) * cell(2 * n)
    words = (4 * n + 1) * vocabulary
    if is_shared:
        words = (n + 1) * vocabulary + 2 * n * n
    return encoder + attention + decoder + words


LUONG = {"dot": 0, "general": 1_000_000, "concat": 2_001_000, "location": 50_000}
PLACES = ("embedding", "context", "output", "target")
DROPOUTS = {f"{place}_dropout": 0.1 for place in PLACES}  # of caglayan2017
ROWS = {
    "bahdanau2015": Row(
        sizes=[Size("paper", bahdanau())],
        task=Task("reverse", longest=10, steps=200),
        optimizer=Optimizer("Adadelta", clip=1.0, rates={0: 1.0}),
    ),
    "caglayan2017": Row(
        sizes=[
            Size("paper", lium()),
            Size("paper", lium() - 1_280_000, options={"tied": "target"}),
            Size("paper", lium() - 2_560_000, options={"tied": "all"}),
            Size("paper", lium_without_attention(), options={"use_attention": False}),
        ],
        task=Task("sort", longest=10, steps=300),
        optimizer=Optimizer("Adam", clip=5.0, rates={0: 4e-4}),
        variants={
            "tied, dropout": {"tied": "all"} | DROPOUTS,
            "no attention": {"use_attention": False, "target_dropout": 0.1},
            "deep": {"encoder_layers": 2},
        },
    ),
    "chen2018": Row(
        sizes=[
            Size("paper", rnmt()),
            Size("tiny", rnmt(10_000, 128, below=4, above=2, is_shared=True)),
        ],
        task=Task("copy", longest=10, steps=300, learning_rate=5e-3),
        optimizer=Optimizer("Adam", 5.0, {0: 1e-4, 600_000: 1e-4, 1_200_000: 5e-5}),
        variants={
            "previous, dropout": {"query": "previous", "dropout": 0.2},
            "hybrid": {"encoder": "transformer"},
        },
    ),
    "cho2014": Row(
        sizes=[Size("paper", cho())],
        task=Task("reverse", longest=5, steps=600),
        optimizer=Optimizer("Adadelta", clip=1.0, rates={0: 1.0}),
    ),
    "gnmt2016": Row(
        sizes=[
            Size("paper", gnmt(8), stated=278_000_000),  # by Shazeer et al. 2017
            Size("four_layers", gnmt(4)),
            Size("paper", gnmt(8), options={"query": "current"}),
        ],
        task=Task("reverse", longest=8, steps=500, learning_rate=5e-3),
        optimizer=Optimizer("Adam", clip=5.0, rates={0: 2e-4}),
        variants={"current": {"query": "current"}},
    ),
    "luong2015": Row(
        sizes=[
            Size("paper", luong(1_000_000 + 1_001_000)),  # W_a; W_p and v_p
            *(
                Size("paper", luong(n), options={"window": "global", "attention": name})
                for name, n in LUONG.items()
            ),
            Size(
                "paper",
                luong(1_000_000, fed=0),
                options={"window": "local-m", "use_input_feeding": False},
            ),
        ],
        task=Task("copy", longest=10, steps=400),
        optimizer=Optimizer("SGD", 5.0, {0: 1.0, 799: 1.0, 800: 0.5, 900: 0.25}),
        variants={
            "dot": {"attention": "dot"},
            "concat, local-m": {"attention": "concat", "window": "local-m"},
            "location, no feeding": {
                "attention": "location",
                "use_input_feeding": False,
            },
            "local-p, dropout": {"window": "local-p", "dropout": 0.2},
        },
    ),
    "sennrich2017": Row(
        sizes=[Size("paper", nematus()), Size("regularized", nematus())],
        task=Task("sort", longest=10, steps=300),
        optimizer=Optimizer("Adam", clip=1.0, rates={0: 1e-4}),
        variants={"dropout": {"dropout": 0.2, "word_dropout": 0.1}},
    ),
    "stacked_bilstm": Row(
        sizes=[Size("large", bilstm())],
        task=Task("sort", longest=5, steps=300),
        optimizer=Optimizer("Adam", clip=1.0, rates={0: 1e-3}),
        variants={"deep": {"decoder_layers": 2}},
    ),
    "sutskever2014": Row(
        sizes=[Size("paper", sutskever(), stated=384_000_000)],
        task=Task("reverse", longest=5, steps=600),
        optimizer=Optimizer("SGD", 5.0, {499: 0.7, 500: 0.35, 549: 0.35, 550: 0.175}),
    ),
    "vaswani2017": Row(
        sizes=[
            Size("base", transformer(512, 2048)),  # 65 million, says Table 3
            Size("big", transformer(1024, 4096), stated=213_000_000),
            Size("tiny", transformer(128, 256, n=4, vocabulary=10_000)),
        ],
        task=Task("reverse", longest=10, steps=600),
        optimizer=Optimizer("Adam", None, {0: 1.746928e-07, 3999: 6.987712e-04}),
        variants={"pre": {"norm_first": True, "attention_dropout": 0.1}},
    ),
    "wang_simple": Row(
        sizes=[
            Size("small", wang()),
            Size("small", wang() - 64, options={"align": "projected"}),  # without v
        ],
        task=Task("reverse", longest=8, steps=350),
        optimizer=Optimizer("Adam", clip=1.0, rates={0: 1e-3}),
        variants={
            "one_layer": {"align": "one_layer"},
            "projected": {"align": "projected"},
        },
    ),
}
