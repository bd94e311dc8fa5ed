"""Compiled functions of a model, kept as long as the model exists."""

import threading
import weakref

import keras
import tensorflow as tf
from keras import tree

from keras_seqattn.errors import four_part_error

_FUNCTIONS = {}  # id(model) -> functions; not the model, which need not have a hash
_LOCK = threading.RLock()


def compiled(model, key, function):
    """Return `function(model, *tensors)` as a `tf.function` of the tensors.

    It is traced once for all batch sizes and lengths. It is traced again when variables
    or layers of the model are no longer the same objects (after quantisation, or when
    a part was replaced), because the graph would still use the old ones. Other
    attributes of the model keep the values that they have at the first call.

    Args:
        model: any object. Changes are noticed in Keras models, in objects with
            `variables`, and in the `models` of an ensemble.
        key: hashable; tells different functions of one model apart.
        function: graph code.
    """
    reference = _reference(model)  # functions must not keep their model alive

    def traced(*tensors):
        return function(reference(), *tensors)

    def call(*tensors):
        signature = tree.map_structure(_signature, tensors)
        name = key, str(signature)
        with _LOCK:
            functions = _functions(model)
            if name not in functions:
                # A concrete function: TensorFlow would warn that a function is traced
                # too often when many models share one.
                functions[name] = tf.function(
                    traced, input_signature=signature, autograph=False
                ).get_concrete_function()
            concrete_function = functions[name]
        return concrete_function(*tensors)

    return call


def _functions(model):
    """Return the dict of compiled functions, emptied if the model has changed."""
    if id(model) not in _FUNCTIONS:
        weakref.finalize(model, _FUNCTIONS.pop, id(model), None)
        _FUNCTIONS[id(model)] = {"parts": []}
    functions = _FUNCTIONS[id(model)]
    # The objects are kept, not their ids, which Python reuses for new objects.
    old, new = functions["parts"], _parts(model)
    if list(map(id, old)) != list(map(id, new)):
        functions.clear()
        functions["parts"] = new
    return functions


def _parts(model):
    """Return variables and layers, without the model itself, which must stay free."""
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
            "decode got a model that does not support weak references",
            "an object of an ordinary class",
            f"a {type(model).__name__}",
            "Make it an ordinary class: named tuples and classes with __slots__ do "
            "not support them",
        ) from None


def _signature(x):
    """Return a spec with any batch size and time; the sizes of features are fixed."""
    return tf.TensorSpec([None, None, *x.shape[2:]][: len(x.shape)], x.dtype)
