"""`python -m benchmarks.phases`: the time of each part of a training step.

Encoder, decoder, head with loss, and Adam run alone, in the forward pass and in forward
and backward pass together, in a graph and compiled by XLA. Each time stands beside the
time of its matrix products at the GEMM peak of the same run. The difference is time for
elementwise operations, copies and waiting.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import keras
import tensorflow as tf

from benchmarks import flops, machine, ours, sizes, store

ROUNDS, WARM_UP = 15, 2
COMPILERS = {"graph": False, "XLA": True}


class Part(NamedTuple):
    """A part of the model: its function, the inputs and the weights."""

    call: Callable  # function of the inputs
    inputs: list
    weights: list


def parts(model, size):
    """Return the parts by name; all inputs except the labels are random."""
    encoder, bridge, decoder, hidden, logits = (
        model.get_layer(name)
        for name in ("encoder", "bridge", "decoder", "hidden", "logits")
    )
    *_, labels = sizes.batch(size)
    random = keras.random.SeedGenerator(sizes.SEED)

    def normal(*shape):
        return keras.random.normal((size.batch, *shape), seed=random)

    def decode(embedded, values, state):
        return decoder(embedded, values, initial_state=state, training=True)

    def loss(outputs):
        predicted = logits(hidden(outputs))
        return model.loss(tf.constant(labels), predicted)

    width = 2 * size.units
    return {
        "encoder": Part(
            lambda embedded: encoder(embedded, training=True).values,
            [normal(size.source, size.embedding)],
            encoder.trainable_variables,
        ),
        "decoder": Part(
            decode,
            [
                normal(size.target, size.embedding),
                normal(size.source, width),
                normal(size.units),
            ],
            decoder.trainable_variables,
        ),
        "head and loss": Part(
            loss,
            [normal(size.target, size.units + width)],
            hidden.trainable_variables + logits.trainable_variables,
        ),
    }


def functions(part, jit_compile):
    """Return functions of the forward pass, and of forward and backward pass."""

    @tf.function(jit_compile=jit_compile)
    def forward(*inputs):
        return part.call(*inputs)

    @tf.function(jit_compile=jit_compile)
    def both(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs = part.call(*inputs)
        return tape.gradient(outputs, [*inputs, *(w.value for w in part.weights)])

    return {"forward": forward, "forward and backward": both}


def update(model, jit_compile):
    """Return a step of the optimizer on all weights, with gradients of zeros."""
    optimizer, weights = model.optimizer, model.trainable_variables
    optimizer.build(weights)
    gradients = [tf.zeros(weight.shape) for weight in weights]

    @tf.function(jit_compile=jit_compile)
    def apply():
        optimizer.apply(gradients, weights)
        return tf.constant(0)

    return apply


def measured(size=sizes.REFERENCE, rounds=ROUNDS):
    """Return rows `{part, way, ms of products at peak, graph, XLA}`, and the peak."""
    model, _ = ours.compiled(size, masked=False)
    found = parts(model, size)
    calls, counted = {}, {}
    for compiler, jit_compile in COMPILERS.items():
        for name, part in found.items():
            for way, function in functions(part, jit_compile).items():
                calls[name, way, compiler] = _call(function, part.inputs)
                if not jit_compile:
                    concrete = function.get_concrete_function(*part.inputs)
                    counted[name, way] = flops.flops(concrete, *part.inputs)
        calls["Adam", "once", compiler] = _call(update(model, jit_compile), [])
        counted["Adam", "once"] = 0
    times, peak = _in_turn(calls, rounds)
    rows = [
        {"part": part, "way": way, "products": 1e3 * count / peak}
        | {compiler: times[part, way, compiler] for compiler in COMPILERS}
        for (part, way), count in counted.items()
    ]
    return rows, peak


def _call(function, inputs):
    return lambda: function(*inputs)  # eager calls on a processor wait for the end


def _in_turn(calls, rounds):
    """Return medians in milliseconds, and the best peak of all rounds."""
    times, peak = {name: [] for name in calls}, 0.0
    for i in range(WARM_UP + rounds):
        peak = max(peak, machine.gemm_peak())
        for name in list(calls)[:: 1 if i % 2 else -1]:
            start = time.perf_counter()
            calls[name]()
            if i >= WARM_UP:
                times[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(values) for name, values in times.items()}, peak


def table(rows):
    """Return rows of strings; the first is the head."""
    head = ["", "", "products at the peak, ms", *(f"{c}, ms" for c in COMPILERS)]
    numbers = ("products", *COMPILERS)
    return [
        head,
        *([r["part"], r["way"], *(f"{r[n]:.1f}" for n in numbers)] for r in rows),
    ]


def main():
    rows, peak = measured()
    content = {**store.stamp({}), "gemm_peak_gflops": peak / 1e9, "rows": rows}
    store.write("phases", content)
    for cells in table(rows):
        print("".join(f"{cell:>26}" for cell in cells))
    print(f"GEMM peak of this run: {peak / 1e9:.0f} GFLOP/s")


if __name__ == "__main__":
    sys.exit(main())
