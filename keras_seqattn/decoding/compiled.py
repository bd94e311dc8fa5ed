"""Compiled functions of a model, one for each use, as long as the model lives."""

import weakref

import tensorflow as tf
from keras import tree

_FUNCTIONS = {}  # id(model) -> functions: a model need not have a hash


def compiled(model, key, function):
    """`function(model, *tensors)` as a `tf.function` of the tensors.

    Traced once for all batch sizes and lengths. Another one is made when the variables
    are no longer the same objects (quantised, or another part put in), because a graph
    would go on with the old ones.

    Args:
        model: any object; Keras models and objects with `variables` are watched.
        key: hashable, what tells the uses apart.
        function: graph code.
    """
    if id(model) not in _FUNCTIONS:
        _FUNCTIONS[id(model)] = {"variables": []}
        weakref.finalize(model, _FUNCTIONS.pop, id(model), None)
    functions = _FUNCTIONS[id(model)]
    # The variables themselves, not their ids, which others get when these are gone.
    old, new = functions["variables"], list(getattr(model, "variables", ()))
    if list(map(id, old)) != list(map(id, new)):
        functions.clear()
        functions["variables"] = new
    known = weakref.ref(model)  # functions must not keep their model alive

    def call(*tensors):
        arguments = tree.map_structure(_signature, tensors)
        if (key, str(arguments)) not in functions:

            def traced(*tensors):
                return function(known(), *tensors)

            functions[key, str(arguments)] = tf.function(
                traced, input_signature=arguments, autograph=False
            )
        return functions[key, str(arguments)](*tensors)

    return call


def _signature(x):
    """Any batch size, any time; the sizes of features stay."""
    return tf.TensorSpec([None, None, *x.shape[2:]][: len(x.shape)], x.dtype)
