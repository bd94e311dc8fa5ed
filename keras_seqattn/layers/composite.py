"""The base of every layer of the library."""

import functools
import inspect
import re

import keras
from keras import ops, tree

from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.parts.call_arguments import make_plain
from keras_seqattn.layers.parts.checks import check_memory
from keras_seqattn.layers.parts.nested_layers import deserialize_part
from keras_seqattn.ops.loop_ops import apply_dense


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
        if "value" in bound.arguments:
            make_plain(type(self).__name__, bound.arguments, "value", "mask")
        _, *args = bound.args
        owner, verb = type(self).__name__, method.__name__
        if "memory" in bound.arguments:
            state = bound.arguments.get("state", ())
            check_memory(f"{owner}.{verb}", bound.arguments["memory"], state)
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


def training_kwargs(training):
    """The keyword arguments for a sublayer: none where `training` is None.

    Keras then uses the value that the layers around were called with. Passing None
    would mean False, and would also override later calls of sublayers.
    """
    return {} if training is None else {"training": training}


class Composite(keras.layers.Layer):
    """Base of the layers: attention mechanisms, encoders, bridges, cells and heads.

    Its methods are the tools for a new layer. `step_verb` is the decorator of methods
    that compute outside of `call`, such as `prepare` and `attend`;
    `apply_projection(dense, x)` is `dense(x)` at a step, fast inside of the library's
    loops over time.

    The quantisation of sublayers survives saving: `model.quantize("int8")` reaches the
    `Dense` layers inside, and the configuration says which of them are quantised, so
    that a reloaded layer builds them as they were.
    """

    parts = ()  # names of the constructor's arguments that are layers themselves
    step_verb = staticmethod(step_verb)
    apply_projection = staticmethod(apply_dense)

    def make_projection(self, units, name, use_bias=False, activation=None):
        """A new `Dense` for this layer: it can be quantised and adapted.

        Args:
            units: last size of its output.
            name: of the `Dense`, which is also the name of the attribute that holds it.
            use_bias: whether it has a bias.
            activation: of the `Dense`; None: it is linear.
        """
        return keras.layers.Dense(
            units,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=clone_initializer(self.kernel_initializer),
            dtype=self.dtype_policy,
            name=name,
        )

    def compute_weight(self, variable):
        """A weight in the compute dtype, inside `call` and in step verbs alike."""
        return ops.cast(variable, self.compute_dtype)

    def get_config(self):
        config = super().get_config()
        above = (self.path or "").removesuffix(self.name)  # not there after loading
        quantized = {
            f"(.*/)?{re.escape(layer.path.removeprefix(above))}": layer.dtype_policy
            for layer in self._flatten_layers(include_self=False)
            if layer.quantization_mode is not None
        }
        if quantized:
            policies = keras.dtype_policies.DTypePolicyMap(
                default_policy=self.dtype_policy, policy_map=quantized
            )
            config["dtype"] = keras.dtype_policies.serialize(policies)
        return config

    @classmethod
    def from_config(cls, config):
        nested = {
            name: deserialize_part(config[name])
            for name in cls.parts
            if isinstance(config.get(name), dict)
        }
        return cls(**{**config, **nested})


def clone_initializer(initializer):
    """A copy: an initializer object returns the same values whenever it is called."""
    return initializer.clone() if hasattr(initializer, "clone") else initializer
