"""One training step of the reference model."""

from benchmarks.processes import ROOT
from benchmarks.registry import Benchmark, Entry, Tolerance
from benchmarks.sizes import REFERENCE

OURS, RNN, EAGER = "keras_seqattn", "keras.layers.RNN", "PyTorch eager"
TRAIN = "benchmarks.ours:training"
ENTRIES = {
    OURS: Entry(TRAIN),
    RNN: Entry("benchmarks.rivals.keras_rnn:training"),
    EAGER: Entry("benchmarks.rivals.torch_training:training"),
}
SAME_MODEL = (
    Tolerance("logits", 1e-4),
    Tolerance("loss", 1e-3),  # Keras squares the gradients of a repeated row apart
    Tolerance("gradient", 1e-4),
)
HALF_PRECISION = (
    Tolerance("logits", 5e-2),
    Tolerance("loss", 2e-2),
    Tolerance("gradient", 1e-1),
)
JOEYNMT = ROOT / ".venv-joeynmt/bin/python"
STEPS = 5  # in one repetition

ALL = [
    Benchmark(
        "train_step",
        "A training step through fit, reference size, every position real.",
        {
            OURS: ENTRIES[OURS],
            "ours, bfloat16": Entry(
                TRAIN, {"policy": "mixed_bfloat16"}, tolerances=HALF_PRECISION
            ),
            "ours, XLA": Entry(TRAIN, {"jit_compile": True}),
            RNN: ENTRIES[RNN],
            EAGER: ENTRIES[EAGER],
            "torch.compile": ENTRIES[EAGER]._replace(
                options={"compiled": True}, smoke=False
            ),
            "JoeyNMT": Entry(
                "benchmarks.rivals.joeynmt_training:training",
                compared=False,
                smoke=False,
                python=str(JOEYNMT),
            ),
        },
        {"reference": {"size": REFERENCE, "steps": STEPS}},
        SAME_MODEL,
        base=RNN,
        steps=STEPS,
        seconds=300,
        counts_flops=True,
    ),
    Benchmark(
        "train_step_masked",
        "A training step through fit, sentences of 8 to 16 tokens, masks everywhere.",
        {name: ENTRIES[name] for name in (OURS, RNN)},
        {"reference": {"size": REFERENCE, "steps": STEPS, "masked": True}},
        SAME_MODEL,
        base=RNN,
        steps=STEPS,
        counts_flops=True,
    ),
]
