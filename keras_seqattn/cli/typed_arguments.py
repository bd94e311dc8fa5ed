"""Call a function with arguments that a user typed, e.g. `units=256`."""

import inspect

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error

_SWITCHES = {"true": True, "false": False}
_CONSTANTS = {"none": None, **_SWITCHES}


def parse_arguments(owner, function, values, preset=None):
    """Return typed arguments, and check that the function has all of them.

    Args:
        owner: name of the caller in error messages.
        function: function whose signature names the arguments.
        values: strings by argument name; values of other types stay as they are.
        preset: dict of values that show the types of the arguments.
    """
    parameters = _parameters(function)
    defaults = {name: p.default for name, p in parameters.items()} | (preset or {})
    for name in values:
        check_choice(owner, "argument", name, parameters)
    for name, value in values.items():
        if isinstance(value, str) and isinstance(defaults[name], bool):
            _check_switch(owner, name, value)
    return {
        name: parse_value(value, defaults[name]) if isinstance(value, str) else value
        for name, value in values.items()
    }


def _parameters(function):
    """Return parameters by name; `**kwargs` of a class are those of its base."""
    parameters = inspect.signature(function).parameters
    rest = [name for name, p in parameters.items() if p.kind is p.VAR_KEYWORD]
    if not rest or not inspect.isclass(function) or function is object:
        return parameters
    own = {name: p for name, p in parameters.items() if name not in rest}
    return {**_parameters(function.__base__), **own}


def _check_switch(owner, name, value):
    """Check for true or false: Python treats every other word as true."""
    if value.lower() not in _SWITCHES:
        raise four_part_error(
            f"{owner} got an unusable value of a switch",
            f"{name}=true or {name}=false",
            f"{name}={value}",
            "Write one of the two",
        )


def call_with(owner, function, values):
    """Call the function; an argument of a wrong type is an error of the user."""
    try:
        return function(**values)
    except TypeError as error:
        raise four_part_error(
            f"{owner} cannot use its arguments",
            "numbers, names or lists, as its documentation says",
            f"{values} with the error {str(error)!r}",
            "Check their spelling and types",
        ) from error


def parse_value(text, default=None):
    """Return None, a bool, a number, a list of these (with commas), or the string.

    A string as the default shows that the argument is a string.
    """
    if isinstance(default, str):  # symbols=0123456789 is not a number
        return None if text.lower() == "none" else text
    if "," in text or isinstance(default, (list, tuple)):
        return [parse_value(part.strip()) for part in text.strip("()[],").split(",")]
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text
