"""Compiled functions of a model, one for each use, as long as the model lives."""

import threading
import weakref

import keras
import tensorflow as tf
from keras import tree

from keras_seqattn.errors import four_part_error

_FUNCTIONS = {}  # id(model) -> functions: a model need not have a hash
_LOCK = threading.RLock()


def compiled(model, key, function):
    """`function(model, *tensors)` as a `tf.function` of the tensors.

    Traced once for all batch sizes and lengths. Another one is made when variables or
    layers are no longer the same objects (quantised, or another part put in), because a
    graph would go on with the old ones. Other attributes are those of the first call.

    Args:
        model: any object; Keras models, objects with `variables` and the `models` of an
            ensemble are watched.
        key: hashable, what tells the uses apart.
        function: graph code.
    """
    known = _reference(model)  # functions must not keep their model alive

    def traced(*tensors):
        return function(known(), *tensors)

    def call(*tensors):
        arguments = tree.map_structure(_signature, tensors)
        name = key, str(arguments)
        with _LOCK:
            functions = _functions(model)
            if name not in functions:
                # Concrete: TensorFlow would take several models for one retraced often.
                functions[name] = tf.function(
                    traced, input_signature=arguments, autograph=False
                ).get_concrete_function()
            compiled_function = functions[name]
        return compiled_function(*tensors)

    return call


def _functions(model):
    """What is compiled for the model as it is now."""
    if id(model) not in _FUNCTIONS:
        weakref.finalize(model, _FUNCTIONS.pop, id(model), None)
        _FUNCTIONS[id(model)] = {"parts": []}
    functions = _FUNCTIONS[id(model)]
    # The objects themselves, not their ids, which others get when these are gone.
    old, new = functions["parts"], _parts(model)
    if list(map(id, old)) != list(map(id, new)):
        functions.clear()
        functions["parts"] = new
    return functions


def _parts(model):
    """Variables and layers, without the model itself: it must be free to go."""
    parts = list(getattr(model, "variables", ()))
    if isinstance(model, keras.layers.Layer):
        parts += model._flatten_layers(include_self=False)
    return parts + [
        p for member in getattr(model, "models", ()) for p in _parts(member)
    ]


def _reference(model):
    try:
        return weakref.ref(model)
    except TypeError:
        raise four_part_error(
            "decode got a model whose life cannot be watched",
            "an object that can be weakly referenced",
            f"a {type(model).__name__}",
            "Make it an ordinary class: named tuples and classes with __slots__ "
            "are not",
        ) from None


def _signature(x):
    """Any batch size, any time; the sizes of features stay."""
    return tf.TensorSpec([None, None, *x.shape[2:]][: len(x.shape)], x.dtype)
