"""The base of every layer of the library."""

import re

import keras

from keras_seqattn.layers.parts.nested_layers import deserialize_part
from keras_seqattn.layers.parts.step_verb import step_verb
from keras_seqattn.ops.loop_ops import in_loop, multiply


class Composite(keras.layers.Layer):
    """Base of the layers: attention mechanisms, encoders, bridges, cells and heads.

    Its methods are the tools for a new layer. `step_verb` is the decorator of methods
    that compute outside of `call`, such as `prepare` and `attend`.

    The quantisation of sublayers survives saving: `model.quantize("int8")` reaches the
    `Dense` layers inside, and the configuration says which of them are quantised, so
    that a reloaded layer builds them as they were.
    """

    parts = ()  # names of the constructor's arguments that are layers themselves
    step_verb = staticmethod(step_verb)

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

    def apply_projection(self, dense, x):
        """`dense(x)` at a step: fast inside the library's loops over time.

        Args:
            dense: a `Dense`, e.g. from `make_projection`.
            x: `[batch, ..., depth]`.
        """
        is_plain = dense.quantization_mode is None and not dense.lora_enabled
        if not (is_plain and in_loop()):
            return dense(x)
        product = multiply(x, dense.kernel, dense.compute_dtype, dense.bias)
        return product if dense.activation is None else dense.activation(product)

    def compute_weight(self, variable):
        """A weight in the compute dtype, inside `call` and in step verbs alike."""
        return keras.ops.cast(variable, self.compute_dtype)

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
