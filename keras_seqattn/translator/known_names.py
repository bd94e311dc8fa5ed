"""Checks the names of classes and functions in a configuration from a file.

Keras finds classes and functions by these names. To do so it imports modules of its own
packages, it calls functions such as `keras.utils.plot_model`, and it has layers that
read other files or run code. So every name is checked before Keras sees it.
"""

import re
import sys
import types

import keras

from keras_seqattn.safe_reading import in_one_line
from keras_seqattn.translator.unsafe_file import UnsafeFile

# The classes of Keras whose objects may be parts of a model.
_KINDS = (
    keras.Operation,  # layers and models, too
    keras.DTypePolicy,
    keras.Initializer,
    keras.Loss,
    keras.Metric,
    keras.Optimizer,
    keras.Quantizer,
    keras.Regularizer,
    keras.constraints.Constraint,
    keras.optimizers.schedules.LearningRateSchedule,
    keras.quantizers.QuantizationConfig,
    keras.random.SeedGenerator,
)
# Layers that run code or load other files. Those of `preprocessing` do, too, except for
# the harmless ones.
_NEVER = {"Lambda", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"}
_HARMLESS = {"Normalization", "Rescaling"}
# Values that Keras writes as objects; other such objects run or import code.
_VALUES = {"__keras_tensor__", "__bytes__", "__ellipsis__", "__slice__"}
_ARRAYS = {"__numpy__", "__tensor__"}
_NUMBERS = re.compile("bool|bfloat16|(u?int|float)(8|16|32|64)|float8_.*|u?int4")

# A path of layers as `Composite` escapes it, with an optional prefix for any path.
_PATH = re.compile(r"(\(\.\*/\)\?)?(\\.|[\w /.:-])*")


def check_names(config, layers):
    """Raise `UnsafeFile` if a configuration may do harm.

    Args:
        config: the parsed JSON of a model.
        layers: greatest number that an option "layers" may have.
    """
    stack = [config]
    while stack:  # a loop, because JSON may be nested deeper than Python can recurse
        node = stack.pop()
        if isinstance(node, list):
            stack += node
        elif isinstance(node, dict):
            if "class_name" in node:
                _check_name(node)
            _check_patterns(node.get("policy_map"))
            number = node.get("layers")
            if isinstance(number, (int, float)) and number > layers:
                raise UnsafeFile(
                    f"the configuration has {number} layers, but the file has weights "
                    f"of at most {layers}"
                )
            stack += node.values()


def load_registered(description, base):
    """Return the object that a description from a file defines.

    Raise `UnsafeFile` if its class is not registered with Keras, is no subclass of
    `base`, or does not accept the options.

    Args:
        description: dict with `registered_name` and `config`, from JSON.
        base: class of which the object must be an instance.
    """
    is_dict = isinstance(description, dict)
    name = description.get("registered_name") if is_dict else None
    config = description.get("config") if is_dict else None
    cls = keras.saving.get_registered_object(name) if isinstance(name, str) else None
    if not isinstance(cls, type) or not issubclass(cls, base):
        raise UnsafeFile(
            f"{_short(description)} has no class that is registered as a "
            f"{base.__name__}"
        )
    if not isinstance(config, dict):
        raise UnsafeFile(f"{_short(description)} has no options")
    try:
        return cls.from_config(config)
    except Exception as error:  # options from a file may cause any exception
        raise UnsafeFile(in_one_line(error)) from error


def _check_name(node):
    name, module = node["class_name"], node.get("module")
    key = node.get("registered_name", name)  # as Keras reads it
    if not all(isinstance(x, str) for x in (name, module or "", key or "")):
        raise UnsafeFile(f"{_short(node)} names a class by something else than strings")
    if name in _VALUES or name in _ARRAYS and _is_array(node.get("config")):
        return
    if name == "function":
        is_known = _is_known_function(node.get("config"), module)
    else:
        is_known = name not in _NEVER and _is_known_class(name, module, key)
    if not is_known:
        full_name = f"{module}.{name}" if module else name
        if name == "function":
            full_name = f"the function {_short(node.get('config'))} of {module}"
        raise UnsafeFile(f"{full_name!r} is not registered, or may do harm")


def _check_patterns(policies):
    """Check regular expressions that Keras will use; some would never end."""
    for path in policies if isinstance(policies, dict) else ():
        if not _PATH.fullmatch(path):
            raise UnsafeFile(
                f"there are dtype policies for {_short(path)}, which is not a path of "
                "layers"
            )


def _is_known_class(name, module, key):
    if keras.saving.get_registered_object(key) is not None:
        return True
    cls = _attribute(module, name)
    if not isinstance(cls, type) or not issubclass(cls, _KINDS):
        return False
    if cls.__name__ in _NEVER:  # the file may use an alias
        return False
    return ".preprocessing." not in cls.__module__ or cls.__name__ in _HARMLESS


def _is_known_function(name, module):
    if not isinstance(name, str):
        return False
    if keras.saving.get_registered_object(name) is not None:
        return True
    places = "activations", "losses", "metrics"
    if module not in ("builtins", *(f"keras.{place}" for place in places)):
        return False
    candidates = (_attribute(f"keras.{place}", name) for place in places)
    forbidden = {"get", "serialize", "deserialize"}
    return name not in forbidden and any(
        isinstance(x, types.FunctionType) for x in candidates
    )


def _attribute(module, name):
    """Return an attribute of a module of Keras that is imported already, or None."""
    if module is None or module.split(".")[0] != "keras":
        return None
    return vars(sys.modules.get(module, types)).get(name)


def _is_array(config):
    """Whether the dtype is one of numbers: NumPy would allocate strings of any size."""
    dtype = config.get("dtype") if isinstance(config, dict) else None
    return isinstance(dtype, str) and _NUMBERS.fullmatch(dtype)


def _short(value):
    return in_one_line(repr(value))[:80]
