"""The base of every layer of the library: its tools, and the arguments of its calls."""

import functools
import inspect
import re

import keras
from keras import ops, tree

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error
from keras_seqattn.layers.parts import checks
from keras_seqattn.layers.parts.nested_layers import deserialize_part
from keras_seqattn.ops.loop_ops import apply_dense
from keras_seqattn.ops.mask import both
from keras_seqattn.types import Encoded

_OF_KERAS = {
    *inspect.signature(keras.layers.Layer.__init__).parameters,
    *("input_shape", "input_dim"),
}
AXES = {"query": "target", "inputs": "target", "value": "source", "key": "source"}


def step_verb(method):
    """Decorate `prepare`, `attend`, `step`, ...: they need weights and real tensors.

    The method raises an error for an unbuilt layer, and for a symbolic tensor: a
    Functional model would silently lose the weights. It casts its first argument and a
    `key` to the compute dtype, as `call` does; memory and state have it already.
    """

    signature = inspect.signature(method)

    @functools.wraps(method)
    def checked(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name in ("value", "key"):
            make_plain(type(self).__name__, bound.arguments, name, "mask")
        _, *args = bound.args
        owner, verb = type(self).__name__, method.__name__
        if "memory" in bound.arguments:
            state = bound.arguments.get("state", ())
            checks.check_memory(f"{owner}.{verb}", bound.arguments["memory"], state)
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
        for name in [*signature.parameters][1:2] + ["key"]:
            if bound.arguments.get(name) is not None:
                cast = _as_call_casts(bound.arguments[name], self.compute_dtype)
                bound.arguments[name] = cast
        return method(*bound.args, **bound.kwargs)

    return checked


def _as_call_casts(tensor, dtype):
    tensor = ops.convert_to_tensor(tensor)
    if keras.backend.is_float_dtype(keras.backend.standardize_dtype(tensor.dtype)):
        tensor = ops.cast(tensor, dtype)
    return tensor


def plain_call(layer, args, kwargs):
    """The arguments of a call, with a tensor and a mask for each padded argument.

    Args:
        layer: the layer that is called.
        args: its positional arguments.
        kwargs: its keyword arguments.

    Returns:
        `args` and `kwargs` for `keras.layers.Layer.__call__`.
    """
    owner, signature = type(layer).__name__, inspect.signature(layer.call).parameters
    parameters = {
        k: x for k, x in signature.items() if x.kind == x.POSITIONAL_OR_KEYWORD
    }
    names = list(parameters)[: len(args)]
    arguments = {**dict(zip(names, args, strict=False)), **kwargs}
    for name in arguments if len(parameters) == len(signature) else ():
        check_choice(owner, "argument", name, parameters)
    if arguments.get("value_mask") is None:
        checks.warn_without_mask(owner, arguments.get("value"))
    for name in AXES:
        make_plain(owner, arguments, name, f"{name}_mask")
    checks.check_complete(owner, arguments, parameters)
    args = [arguments.pop(name) for name in names] + list(args[len(names) :])
    return args, arguments


def make_plain(owner, arguments, name, mask_name):
    """Replace an `Encoded` or a ragged tensor by its values and its mask.

    A mask beside it is combined with its own: a position is real if both say so.

    Args:
        owner: name for messages.
        arguments: dict, changed in place.
        name: of the tensor.
        mask_name: of its mask.
    """
    given, beside = arguments.get(name), arguments.get(mask_name)
    if isinstance(given, Encoded):
        values, mask = given.values, given.mask
    elif hasattr(given, "row_lengths"):
        values, mask = _padded(owner, name, given)
    elif isinstance(given, (list, tuple)):
        raise four_part_error(
            f"{owner} got a {type(given).__name__} as its {name}",
            "a tensor",
            f"a {type(given).__name__} of length {len(given)}",
            "Pass each tensor as an argument of its own, without brackets; make a "
            "tensor of nested lists with keras.ops.array(...)",
        )
    else:
        return
    if mask is not None:
        checks.check_mask(owner, beside, name, values.shape, AXES[name])
    arguments[name] = values
    arguments[mask_name] = both(mask, beside)


def _padded(owner, name, ragged):
    """Values and mask of a ragged tensor `[batch, (time), depth]`."""
    if ragged.ragged_rank != 1 or len(ragged.shape) != 3:
        raise four_part_error(
            f"{owner} got a ragged {name} that cannot be padded",
            f"[batch, {AXES[name]}, depth], where only {AXES[name]} is ragged",
            f"shape {tuple(ragged.shape)} with ragged_rank={ragged.ragged_rank}",
            "Make it with tf.ragged.constant(rows, ragged_rank=1)",
        )
    values, lengths = ragged.to_tensor(), ragged.row_lengths()
    positions = ops.arange(ops.shape(values)[1], dtype=lengths.dtype)
    return values, positions < lengths[:, None]


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

    def __init__(self, **kwargs):
        """Check what no constructor of the layer has taken; Keras takes the rest."""
        unknown = [name for name in kwargs if name not in _OF_KERAS]
        if unknown:
            own = [inspect.signature(each.__init__) for each in type(self).__mro__]
            names = {name for each in own for name in each.parameters}
            names -= {"self", "args", "kwargs"}
            check_choice(type(self).__name__, "argument", unknown[0], names)
        super().__init__(**kwargs)

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
