"""What a configuration from a file may name: classes that are known, and do no harm.

Keras finds classes and functions by the names in a file. It imports modules of its own
packages for this, calls functions such as `keras.utils.plot_model`, and has layers that
read other files or run code. So every name is looked at before Keras sees it.
"""

import re
import sys
import types

import keras

from keras_seqattn.safe_reading import in_one_line

# What an object in a model of Keras may be.
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
# Layers that run code, or load other files. Those of `preprocessing`, too.
_NEVER = {"Lambda", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"}
_HARMLESS = {"Normalization", "Rescaling"}
# Values that Keras writes as objects; the others run code, or import it.
_VALUES = {"__keras_tensor__", "__bytes__", "__ellipsis__", "__slice__"}
_ARRAYS = {"__numpy__", "__tensor__"}
_NUMBERS = re.compile("bool|bfloat16|(u?int|float)(8|16|32|64)|float8_.*|u?int4")

# A path of layers, escaped as in `layers/composite.py`, with anything in front of it.
_PATH = re.compile(r"(\(\.\*/\)\?)?(\\.|[\w /.:-])*")


def check_names(config, layers):
    """ValueError in words of one line, where a configuration may do harm.

    Args:
        config: what the JSON of a model says.
        layers: greatest number that may be given as "layers".
    """
    left = [config]
    while left:  # a loop: JSON may be nested more deeply than functions call functions
        found = left.pop()
        if isinstance(found, list):
            left += found
        elif isinstance(found, dict):
            if "class_name" in found:
                _check_name(found)
            _check_patterns(found.get("policy_map"))
            number = found.get("layers")
            if isinstance(number, (int, float)) and number > layers:
                raise ValueError(f"{number} layers, but weights of at most {layers}")
            left += found.values()


def registered(described, kind):
    """An object that JSON describes, of a class that is registered with Keras.

    ValueError in words of one line: it is of no such kind, or of no such options.

    Args:
        described: dict with `registered_name` and `config`.
        kind: class of which it must be.
    """
    name = described.get("registered_name") if isinstance(described, dict) else None
    cls = keras.saving.get_registered_object(name) if isinstance(name, str) else None
    config = described.get("config") if isinstance(described, dict) else None
    if not isinstance(cls, type) or not issubclass(cls, kind):
        raise ValueError(f"{_short(described)}, whose class is not registered as one")
    if not isinstance(config, dict):
        raise ValueError(f"{_short(described)} without options")
    try:
        return cls.from_config(config)
    except Exception as error:  # of whatever kind: options may be anything
        raise ValueError(in_one_line(error)) from error


def _check_name(found):
    name, module = found["class_name"], found.get("module")
    key = found.get("registered_name", name)  # as Keras reads it
    if not all(isinstance(x, str) for x in (name, module or "", key or "")):
        raise ValueError(f"a class that is named by {_short(found)}")
    if name in _VALUES or name in _ARRAYS and _is_array(found.get("config")):
        return
    if name == "function":
        known = _is_known_function(found.get("config"), module)
    else:
        known = name not in _NEVER and _is_known_class(name, module, key)
    if not known:
        described = f"{module}.{name}" if module else name
        if name == "function":
            described = f"the function {_short(found.get('config'))} of {module}"
        raise ValueError(f"{described!r}, which is not registered, or may do harm")


def _check_patterns(policies):
    """Keras searches with these regular expressions, and some would take for ever."""
    for path in policies if isinstance(policies, dict) else ():
        if not _PATH.fullmatch(path):
            raise ValueError(f"dtype policies for {_short(path)}, which is no path")


def _is_known_class(name, module, key):
    if keras.saving.get_registered_object(key) is not None:
        return True
    cls = _attribute(module, name)
    if not isinstance(cls, type) or not issubclass(cls, _KINDS):
        return False
    if cls.__name__ in _NEVER:  # whatever it is called in the file
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
    found = (_attribute(f"keras.{place}", name) for place in places)
    no_function = {"get", "serialize", "deserialize"}
    return name not in no_function and any(
        isinstance(x, types.FunctionType) for x in found
    )


def _attribute(module, name):
    """What a module of Keras holds, if it is imported already; else None."""
    if module is None or module.split(".")[0] != "keras":
        return None
    return vars(sys.modules.get(module, types)).get(name)


def _is_array(config):
    """NumPy allocates what a dtype says: strings of a billion letters, too."""
    dtype = config.get("dtype") if isinstance(config, dict) else None
    return isinstance(dtype, str) and _NUMBERS.fullmatch(dtype)


def _short(value):
    return in_one_line(repr(value))[:80]
