"""The Transformer of Wu et al. 2021, "tiny", beside KerasHub's layers."""

from benchmarks.catalogue.searches import EXACT, WIDTH
from benchmarks.registry import Benchmark, Entry, Tolerance
from benchmarks.sizes import TINY

OURS, HUB = "keras_seqattn", "KerasHub"
RIVAL = "benchmarks.rivals.keras_hub_transformer"
TRAIN, SEARCH = (
    "benchmarks.ours_transformer:training",
    "benchmarks.ours_transformer:search",
)
XLA = {"jit_compile": True}
STEPS = 5  # of training, in one repetition
LENGTH = 50  # of the translations
POSITIONS = (10, 200)
SAME_IN_FLOAT32 = (
    Tolerance("logits", 1e-4),
    Tolerance("loss", 1e-3),
    Tolerance("gradient", 1e-3),  # 5e-7 if both compute in float64
)


def _search(options):
    return Entry(f"{RIVAL}:search", {"width": WIDTH, **options})


def _step(position):
    options = {"width": WIDTH, "position": position}
    return Entry("benchmarks.ours_transformer:step", options, compared=False)


ALL = [
    Benchmark(
        "transformer_train_step",
        "A training step of the Transformer through fit, every position real.",
        {
            OURS: Entry(TRAIN),
            "ours, XLA": Entry(TRAIN, XLA),
            HUB: Entry(f"{RIVAL}:training"),
            "KerasHub, XLA": Entry(f"{RIVAL}:training", XLA),
        },
        {"tiny": {"size": TINY, "steps": STEPS}},
        SAME_IN_FLOAT32,
        base=HUB,
        steps=STEPS,
    ),
    Benchmark(
        "transformer_beam_64",
        f"Beam search, width {WIDTH}, of 64 sentences with a Transformer, "
        f"{LENGTH} steps. KerasHub's models send the memory of the source through the "
        'sampler; "careful" does not.',
        {
            OURS: Entry(SEARCH, {"width": WIDTH}),
            "ours, XLA": Entry(SEARCH, {"width": WIDTH, **XLA}),
            HUB: _search({}),
            "KerasHub, XLA": _search(XLA),
            "KerasHub, careful": _search({"is_careful": True}),
            "careful, XLA": _search({"is_careful": True, **XLA}),
        },
        {"tiny": {"size": TINY._replace(target=LENGTH)}},
        EXACT,
        base=HUB,
        steps=LENGTH,
        repetitions=10,
        seconds=400,
    ),
    Benchmark(
        "transformer_position",
        "Steps of the decoder in a beam search of 64 sentences, without the products "
        "of the self-attention, after pasts of two lengths.",
        {f"position {position}": _step(position) for position in POSITIONS},
        {"tiny": {"size": TINY}},
        steps=40,
    ),
]
