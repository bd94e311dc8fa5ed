"""What every layer of the library shares."""

import copy
import re

import keras

from keras_seqattn.errors import four_part_error
from keras_seqattn.ops.products import in_loop, multiply


class Composite(keras.layers.Layer):
    """A layer made of sublayers whose quantisation survives saving.

    `model.quantize("int8")` reaches the `Dense` layers inside; the configuration then
    has to say which of them, or the reloaded layer would build them in full precision.
    """

    parts = ()  # names of the constructor's arguments that are layers themselves

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


def through(dense, x):
    """`dense(x)`, quick inside the library's loops: see `ops.products.multiply`."""
    plain = dense.quantization_mode is None and not dense.lora_enabled
    if not (plain and in_loop()):
        return dense(x)
    product = multiply(x, dense.kernel, dense.compute_dtype, dense.bias)
    return product if dense.activation is None else dense.activation(product)


def projection(owner, units, name, use_bias=False, activation=None):
    """A learned linear map inside `owner`; a `Dense` can be quantised and adapted."""
    return keras.layers.Dense(
        units,
        activation=activation,
        use_bias=use_bias,
        kernel_initializer=fresh(owner.kernel_initializer),
        dtype=owner.dtype_policy,
        name=name,
    )


def build_part(owner, part, *shapes):
    """Builds a layer that was given to another one, which owns it from now on."""
    who = type(owner).__name__
    if part.built:
        raise four_part_error(
            f"{who} got a part that has its weights already",
            f"a new {type(part).__name__}",
            f"{part.name!r} with built=True",
            "Make one for every owner; to share weights, call the whole layer twice",
        )
    if part.compute_dtype != owner.compute_dtype:
        raise four_part_error(
            f"{who} got a part of another dtype",
            f"{type(part).__name__} to compute in {owner.compute_dtype}",
            part.compute_dtype,
            "Give both the same dtype, or none and keras.config.set_dtype_policy(...)",
        )
    part.build(*shapes)


def fresh(initializer):
    """A copy: an initializer object returns the same values whenever it is called."""
    return initializer.clone() if hasattr(initializer, "clone") else initializer


def serialize_part(layer):
    """Configuration of a layer inside another one, which will build it itself."""
    config = keras.saving.serialize_keras_object(layer)
    config.pop("build_config", None)  # built alone it would get another path
    return config


def deserialize_part(config):
    """The layer inside; Keras's `StackedRNNCells` empties the dict that it is given."""
    return keras.saving.deserialize_keras_object(copy.deepcopy(config))


def weight_of(owner, variable):
    """A weight in the compute dtype, inside `call` and in step verbs alike."""
    return keras.ops.cast(variable, owner.compute_dtype)


def carry_mask(tensor, mask):
    """Attaches an explicitly passed mask, so that the layers after us see it too."""
    if mask is not None:
        tensor._keras_mask = mask
    return tensor
