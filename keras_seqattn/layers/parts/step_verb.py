"""Step verbs: methods that compute outside of a layer's `call`."""

import functools
import inspect

import keras
from keras import ops, tree

from keras_seqattn.errors import four_part_error


def step_verb(method):
    """Decorate `prepare`, `attend`, `step`, ...: they need weights and real tensors.

    The method raises an error for an unbuilt layer, and for a symbolic tensor: a
    Functional model would silently lose the weights. It casts its first argument to the
    compute dtype, as `call` does; memory and state have that dtype already.
    """

    signature = inspect.signature(method)

    @functools.wraps(method)
    def checked(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        _, *args = bound.args
        owner, verb = type(self).__name__, method.__name__
        tensors = tree.flatten(args)
        symbolic = [x for x in tensors if isinstance(x, keras.KerasTensor)]
        if symbolic:
            raise four_part_error(
                f"{owner}.{verb} got a symbolic KerasTensor",
                "a real tensor: a Functional model would silently lose the weights",
                symbolic[0],
                f"Call the layer itself there, and use {verb} inside a layer's call or "
                "a tf.function",
            )
        if not self.built:
            raise four_part_error(
                f"{owner}.{verb} was called before the layer has weights",
                "a built layer",
                f"{owner} {self.name!r} with built=False",
                "Call the layer once on a whole sequence, or its build(...) with "
                "shapes",
            )
        return method(self, _as_call_casts(args[0], self.compute_dtype), *args[1:])

    return checked


def _as_call_casts(tensor, dtype):
    tensor = ops.convert_to_tensor(tensor)
    if keras.backend.is_float_dtype(keras.backend.standardize_dtype(tensor.dtype)):
        tensor = ops.cast(tensor, dtype)
    return tensor
