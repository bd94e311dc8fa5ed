"""Decoding 16 source tokens into 32 target tokens with the reference model."""

from benchmarks.registry import Benchmark, Entry, Tolerance
from benchmarks.sizes import REFERENCE

STEPS, WIDTH = 32, 5
EXACT = (Tolerance("tokens", 0.0), Tolerance("scores", 1e-5))


def _greedy(batch, what):
    plain = "benchmarks.rivals.plain_loop:search"
    return _benchmark(
        f"greedy_{batch}",
        f"Greedy decoding of {what}, {STEPS} steps.",
        {
            "keras_seqattn": Entry("benchmarks.ours:search"),
            "ours, XLA": Entry("benchmarks.ours:search", {"jit_compile": True}),
            "PyTorch eager": Entry("benchmarks.rivals.torch_seq2seq:search"),
            "eager Keras loop": Entry("benchmarks.rivals.eager_loop:search"),
            "plain while_loop": Entry(plain),
            "plain, with scores": Entry(plain, {"scored": True}),
        },
        batch,
    )


def _beam(batch, what):
    width = {"width": WIDTH}
    compiled = {**width, "jit_compile": True}
    return _benchmark(
        f"beam_{batch}",
        f"Beam search, width {WIDTH}, of {what}, {STEPS} steps.",
        {
            "keras_seqattn": Entry("benchmarks.ours:search", width),
            "ours, XLA": Entry("benchmarks.ours:search", compiled),
            "PyTorch eager": Entry("benchmarks.rivals.torch_seq2seq:search", width),
            "plain while_loop": Entry("benchmarks.rivals.plain_loop:search", width),
        },
        batch,
    )


def _benchmark(name, what, contenders, batch):
    size = REFERENCE._replace(batch=batch, target=STEPS)
    points = {"reference": {"size": size}}
    return Benchmark(name, what, contenders, points, EXACT, steps=STEPS)


ALL = [
    make(batch, what)
    for make in (_greedy, _beam)
    for batch, what in ((1, "1 sentence"), (64, "64 sentences"))
]
