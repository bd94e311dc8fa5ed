"""A GPU can run every operation of a training step, and nothing pins a device.

The Linux wheels of TensorFlow hold the GPU kernels' registrations whether or not a GPU
is there, so the answer is honest on a CPU machine: not only is there a kernel of that
name, its constraints fit the node's types. (A kernel for `DEFAULT` runs anywhere:
control flow, shapes, resources.) Other wheels have no GPU kernels at all: there the
question cannot be asked.
"""

import functools

import keras
import pytest
import tensorflow as tf
from tensorflow.python.framework import kernels, op_def_registry

import keras_seqattn as ks
from tests.structure.graphs import operations

VOCABULARY, EMBEDDING, UNITS = 11, 6, 8

# What is not run as a kernel: arguments of functions, and calls, which TensorFlow
# inlines (`operations` walks into them).
NOT_RUN = {"PartitionedCall", "StatefulPartitionedCall", "_Arg", "_Retval"}


def additive():
    return ks.BahdanauAttention(UNITS)


L = ks.layers
GNMT = {"layers": 2, "dropout": 0.1, "recurrent_dropout": 0.1}
CELLS = {
    "bahdanau_gru_paper": lambda: L.BahdanauCell(UNITS, additive(), "gru_paper"),
    "luong": lambda: L.LuongCell(UNITS, ks.LuongAttention("general")),
    "gnmt": lambda: L.GNMTCell(UNITS, additive(), cell="layer_norm_lstm", **GNMT),
    "monotonic": lambda: L.BahdanauCell(
        UNITS, L.MonotonicAttention(additive(), noise=1.0), "gru"
    ),
}


@pytest.fixture(params=CELLS, scope="module")
def step(request):
    """Graph of `train_step`: forward, backward, Adam; masks, dropout, metrics."""
    keras.utils.clear_session()
    cell = CELLS[request.param]()
    source = keras.Input((None,), dtype="int32")
    target = keras.Input((None,), dtype="int32")
    embedding = keras.layers.Embedding(VOCABULARY, EMBEDDING, mask_zero=True)
    encoder = ks.BiEncoder(UNITS // 2, cell="gru", dropout=0.1)
    encoded = encoder(embedding(source))
    state = ks.layers.DenseBridge(cell.state_size)(encoded)
    outputs = ks.AttentionDecoder(cell)(
        embedding(target), encoded.values, initial_state=state, value_mask=encoded.mask
    )
    logits = keras.layers.Dense(VOCABULARY)(outputs)
    model = keras.Model((source, target), logits)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
    tokens = tf.TensorSpec((None, None), tf.int32)
    model.optimizer.build(model.trainable_variables)  # its variables, before tracing
    traced = tf.function(lambda x, y: model.train_step((x, y)))
    return traced.get_concrete_function((tokens, tokens), tokens).graph


@functools.cache
def gpu_kernels(op):
    found = kernels.get_registered_kernels_for_op(op).kernel
    return [k for k in found if k.device_type in ("GPU", "DEFAULT")]


def fits(kernel, op):
    """Whether the types of a node are among those that a kernel was registered for."""
    return all(
        set(types(op, constraint.name)) <= set(constraint.allowed_values.list.type)
        for constraint in kernel.constraint
    )


def types(op, name):
    if name in op.node_def.attr:
        value = op.node_def.attr[name]
    else:  # not written into the node: the default of the operation
        attrs = op_def_registry.get(op.type).attr
        [value] = [attr.default_value for attr in attrs if attr.name == name]
    return list(value.list.type) or [value.type]


def is_message(op):
    """The text of an `Assert` (there is one in TensorFlow's loss): read by the host."""
    readers = [reader for output in op.outputs for reader in output.consumers()]
    return (
        op.type == "Const"
        and op.outputs[0].dtype == tf.string
        and all(reader.type == "Assert" for reader in readers)
    )


@pytest.fixture(scope="module", autouse=True)
def gpu_kernels_in_this_wheel():
    if "GPU" not in {k.device_type for k in gpu_kernels("MatMul")}:
        pytest.skip("this TensorFlow was built without GPU kernels")


def test_every_operation_of_the_step_has_a_gpu_kernel_and_no_device(step):
    missing = {
        (op.type, op.name.rsplit("/", 1)[-1])
        for op in operations(step)
        if op.type not in NOT_RUN
        and not is_message(op)
        and not any(fits(kernel, op) for kernel in gpu_kernels(op.type))
    }
    assert not missing
    # The walk sees into the loops, the gradient and the optimizer.
    seen = {op.type for op in operations(step)}
    for op in ("MatMul", "Tanh", "TanhGrad", "Sqrt", "AssignSubVariableOp"):
        assert op in seen
    assert seen & {"While", "StatelessWhile"}
    assert {op.device for op in operations(step)} == {""}


def test_the_check_can_fail():
    """It knows an operation without a GPU kernel, and a type that none was made for."""

    def all_fit(function, spec):
        graph = tf.function(function).get_concrete_function(spec).graph
        return all(
            any(fits(kernel, op) for kernel in gpu_kernels(op.type))
            for op in operations(graph)
        )

    numbers = {t: tf.TensorSpec((2, 2), t) for t in (tf.float32, tf.int32)}
    assert all_fit(lambda x: tf.matmul(x, x), numbers[tf.float32])
    assert not all_fit(lambda x: tf.matmul(x, x), numbers[tf.int32])
    assert not all_fit(tf.strings.lower, tf.TensorSpec((None,), tf.string))
