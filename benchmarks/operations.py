"""`python -m benchmarks.operations`: operations in one step of the decoder's loop.

On a GPU every operation launches a kernel. The matrices of one step are small, so these
launches take most of its time. The program counts them, forward and backward, for our
decoder and for the same decoder as a cell in `keras.layers.RNN`. Both are traced with
the gradients of all their weights and inputs, and run operation by operation. The
number of operations inside the loops is divided by the number of target steps. XLA
makes one kernel of several operations; the program counts its kernels in the compiled
code.
"""

import collections
import math
import sys
from typing import NamedTuple

import keras
import tensorflow as tf

import keras_seqattn as ks
from benchmarks import ours, store, traced, xla_kernels
from benchmarks.rivals.keras_rnn import AttentionGRUCell
from benchmarks.sizes import Size

SIZE = Size(
    batch=4, source=6, target=8, embedding=32, units=32
)  # any size has the same counts
MOST = 0.5  # limit: our kernels / those of the rival
FEW = 2  # elements: a counter or a shape, computed on the host
# Other views of a tensor: no kernel on any device.
WITHOUT_KERNEL = frozenset(
    "Const EnsureShape ExpandDims Identity IdentityN NoOp Placeholder PreventGradient "
    "ReadVariableOp Reshape Shape Squeeze StopGradient VariableShape".split()
)
SLICES = ("Slice", "StridedSlice", "StridedSliceGrad")


class Count(NamedTuple):
    """The numbers of operations in one target step."""

    kernels: float  # operations that compute more than a counter
    all: float  # all operations that TensorFlow executes


def count(function, forward, steps):
    """Return `(forward, backward)`, a `Count` each.

    Args:
        function: concrete function: the layer and its gradients.
        forward: concrete function: the layer alone, which has the forward loops only.
        steps: number of target steps.
    """
    loops = _by_loop(forward)
    before = len(loops)
    loops = _by_loop(function)
    return tuple(
        Count(*(sum(numbers) / steps for numbers in zip((0, 0), *part, strict=True)))
        for part in (loops[:before], loops[before:])
    )


def _by_loop(function):
    """Return kernels and operations of every outermost loop, in order."""
    numbers = collections.defaultdict(lambda: [0, 0])
    seen, _ = traced.run(function)
    for executed in seen:
        if executed.loop is not None:
            numbers[executed.loop][0] += is_kernel(executed)
            numbers[executed.loop][1] += 1
    return list(numbers.values())


def is_kernel(executed):
    """Whether a device must launch a kernel for an operation."""
    op, sizes = executed.op, [math.prod(shape) for shape in executed.outputs]
    if op.type in WITHOUT_KERNEL or op.type.startswith("TensorList"):
        return False
    if op.type in SLICES:  # a slice of everything is a view; the gradient's is the last
        sliced = executed.inputs[-1 if op.type == "StridedSliceGrad" else 0]
        return math.prod(sliced) != sizes[0]
    if op.type == "AddN" and op.outputs[0].dtype == tf.variant:
        return True  # of the elements of two lists
    return any(
        output.dtype.is_floating or size > FEW
        for output, size in zip(op.outputs, sizes, strict=True)
    )


def our_decoder(size):
    """Return a function of inputs, values and state, and its weights."""
    decoder = ks.AttentionDecoder(ours.cell(size.units))
    decoder.build((None, None, size.embedding), (None, None, 2 * size.units))

    def decode(inputs, values, state):
        return decoder(inputs, values, initial_state=state, training=True)

    return decode, decoder


def rival_decoder(size):
    """Return the same for the rival, with the keys."""
    cell = AttentionGRUCell(size.units, memory_depth=2 * size.units)
    decoder = keras.layers.RNN(cell, return_sequences=True)
    keys = keras.layers.Dense(size.units, use_bias=False)

    def decode(inputs, values, state):
        cell.set_memory(values, keys(values), None)
        return decoder(inputs, initial_state=state, training=True)

    return decode, decoder


def counted(made, size=SIZE):
    """Return `(forward, backward)` of a decoder of the functions above."""
    gradients, decode, given = _functions(made, size)
    functions = lambda: gradients(*given), lambda: decode(*given)
    both = (tf.function(f).get_concrete_function() for f in functions)
    return count(*both, size.target)


def launched(made, size=SIZE):
    """Return `(forward, backward)` after XLA, an `xla_kernels.Turn` each."""
    gradients, _, given = _functions(made, size)
    function = tf.function(gradients, jit_compile=True)
    text = function.experimental_get_compiler_ir(*given)(stage="optimized_hlo")
    return tuple(xla_kernels.turns(text))


def _functions(made, size):
    """Return a function of all gradients, one of the layer alone, and their inputs."""
    decode, layer = made
    given = [
        tf.random.normal((size.batch, size.target, size.embedding)),
        tf.random.normal((size.batch, size.source, 2 * size.units)),
        tf.random.normal((size.batch, size.units)),
    ]
    decode(*given)  # makes the variables

    def gradients(*given):
        given = [tf.identity(x) for x in given]
        with tf.GradientTape() as tape:
            tape.watch(given)
            total = tf.reduce_sum(decode(*given) ** 2)
        weights = [variable.value for variable in layer.trainable_variables]
        return tape.gradient(total, given + weights)

    return gradients, decode, given


def main():
    decoders = {"keras_seqattn": our_decoder, "keras.layers.RNN": rival_decoder}
    found = {name: counted(make(SIZE)) for name, make in decoders.items()}
    after = {name: launched(make(SIZE)) for name, make in decoders.items()}
    print("Operations of one decoder step, counted from the graph.\n")
    print(f"{'':18}{'kernels':>20}{'all operations':>22}")
    print(f"{'':18}{'forward':>10}{'backward':>10}{'forward':>12}{'backward':>10}")
    for name, (forward, backward) in found.items():
        print(
            f"{name:18}{forward.kernels:10.1f}{backward.kernels:10.1f}"
            f"{forward.all:12.1f}{backward.all:10.1f}"
        )
    shares = [a.kernels / b.kernels for a, b in zip(*found.values(), strict=True)]
    print(f"{'ours / it':18}{shares[0]:10.2f}{shares[1]:10.2f}  at most {MOST}")
    print("\nKernels of one iteration of the loops that XLA has compiled, and how many")
    print("of them write a result.\n")
    for name, (forward, backward) in after.items():
        print(f"{name:18}" + "".join(f"{n:10}" for n in (*forward, *backward)))
    content = {"commit": store.commit(), "counts": found, "compiled": after}
    store.write("operations", content)
    return int(max(shares) > MOST)


if __name__ == "__main__":
    sys.exit(main())
