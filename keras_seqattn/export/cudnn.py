"""Keeps cuDNN's kernels out of exported graphs, which then run on any machine."""

import contextlib

import keras

from keras_seqattn.errors import four_part_error


@contextlib.contextmanager
def without_cudnn(model):
    """Make all functions that are traced meanwhile independent of a GPU.

    On a machine with a GPU, Keras's recurrent layers write cuDNN's kernels into a
    graph, which then runs on no other machine. The weights are the same in both cases.
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


def check_no_cudnn(functions):
    """Check that no graph contains kernels of cuDNN.

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
                "Pass use_cudnn=False to the recurrent layers that Keras does not "
                "track as layers of the model",
            )


def operations(function):
    """Return the names of all operations in a concrete function, a set."""
    graph = function.graph.as_graph_def()
    inner_nodes = (node for f in graph.library.function for node in f.node_def)
    return {node.op for node in [*graph.node, *inner_nodes]}


def _layers(model):
    """Yield all Keras layers of a model, or of all members of an ensemble."""
    for part in getattr(model, "models", [model]):
        if isinstance(part, keras.layers.Layer):
            yield from part._flatten_layers()
