"""What every layer of the library shares."""

import copy
import re

import keras


class Composite(keras.layers.Layer):
    """A layer made of sublayers whose quantisation survives saving.

    `model.quantize("int8")` reaches the `Dense` layers inside; the configuration then
    has to say which of them, or the reloaded layer would build them in full precision.
    """

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


def projection(owner, units, name, use_bias=False):
    """A learned linear map inside `owner`; a `Dense` can be quantised and adapted."""
    return keras.layers.Dense(
        units,
        use_bias=use_bias,
        kernel_initializer=fresh(owner.kernel_initializer),
        dtype=owner.dtype_policy,
        name=name,
    )


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
