"""Values that were typed, `units=256`, for the arguments of a function."""

import inspect

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error

_SWITCHES = {"true": True, "false": False}
_CONSTANTS = {"none": None, **_SWITCHES}


class Typed(str):
    """A name that was typed on the command line: it may name any code to run.

    The same name in a file is a plain string, and may not.
    """


def named_values(words):
    """`{"units": "256"}` from `["units=256"]`."""
    values = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise four_part_error(
                "seqattn got something that is no setting",
                "NAME=VALUE",
                repr(word),
                "Write e.g. units=256, without blanks around the sign",
            )
        values[name.strip()] = value
    return values


def arguments(owner, function, values, usual=None):
    """Typed arguments, all of which the function has.

    Args:
        owner: who asks, for errors.
        function: whose signature is the law.
        values: by name, as typed; what is no string is taken as it is.
        usual: by name, values that show the types, e.g. of a preset.
    """
    parameters = inspect.signature(function).parameters
    defaults = {name: p.default for name, p in parameters.items()} | (usual or {})
    for name in values:
        check_choice(owner, "argument", name, parameters)
    for name, value in values.items():
        if isinstance(value, str) and isinstance(defaults[name], bool):
            _check_switch(owner, name, value)
    return {
        name: typed(value, defaults[name]) if isinstance(value, str) else value
        for name, value in values.items()
    }


def _check_switch(owner, name, value):
    """Python takes any other word for true."""
    if value.lower() not in _SWITCHES:
        raise four_part_error(
            f"{owner} got no value for a switch",
            f"{name}=true or {name}=false",
            f"{name}={value}",
            "Write one of the two",
        )


def call(owner, function, values):
    """The function with these arguments; a wrong type is an error of the user."""
    try:
        return function(**values)
    except TypeError as error:
        raise four_part_error(
            f"{owner} cannot use its arguments",
            "numbers, names or lists, as its documentation says",
            f"{values} with the error {str(error)!r}",
            "Check their spelling and types",
        ) from error


def typed(text, usual=None):
    """None, bool, int, float, a list of these (between commas), or the string."""
    if isinstance(usual, str):  # symbols=0123456789 is no number
        return None if text.lower() == "none" else text
    if "," in text or isinstance(usual, (list, tuple)):
        return [typed(part.strip()) for part in text.strip("()[],").split(",")]
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text
