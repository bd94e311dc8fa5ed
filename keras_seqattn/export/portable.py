"""Graphs for other machines than this one."""

import contextlib

import keras

from keras_seqattn.errors import four_part_error


@contextlib.contextmanager
def without_cudnn(model):
    """What is traced meanwhile runs on any machine.

    Where there is a GPU, Keras's recurrent layers write cuDNN's kernels into a graph,
    and it runs nowhere else. The weights are the same.
    """
    layers = [x for x in _layers(model) if getattr(x, "use_cudnn", False)]
    before = [layer.use_cudnn for layer in layers]
    try:
        for layer in layers:
            layer.use_cudnn = False
        yield
    finally:
        for layer, value in zip(layers, before, strict=True):
            layer.use_cudnn = value


def check_portable(functions):
    """No graph has cuDNN's kernels, wherever they come from.

    Args:
        functions: concrete functions by name.
    """
    for name, function in functions.items():
        kernels = sorted(x for x in operations(function) if x.startswith("Cudnn"))
        if kernels:
            raise four_part_error(
                "export got a model that needs a GPU",
                "a graph without cuDNN",
                f"{', '.join(kernels)} in the signature {name}",
                "Pass use_cudnn=False to the recurrent layers that the model keeps "
                "where Keras does not find them",
            )


def operations(function):
    """Names of all operations in a concrete function, a set."""
    graph = function.graph.as_graph_def()
    inside = (node for f in graph.library.function for node in f.node_def)
    return {node.op for node in [*graph.node, *inside]}


def _layers(model):
    """All Keras layers of a model, of an ensemble those of each member."""
    for part in getattr(model, "models", [model]):
        if isinstance(part, keras.layers.Layer):
            yield from part._flatten_layers()
