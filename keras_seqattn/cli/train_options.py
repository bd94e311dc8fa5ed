"""The options of `train`, made from the fields of `Settings`."""

import argparse
import dataclasses

from keras_seqattn.cli.settings import GROUPS, Settings, names
from keras_seqattn.cli.values import named_values


def add_settings(parser, groups=tuple(GROUPS)):
    """An option for each setting of some groups; only those given get a value.

    Returns:
        The groups of the parser, by name.
    """
    titles = {name: parser.add_argument_group(GROUPS[name]) for name in groups}
    for field in dataclasses.fields(Settings):
        group = titles.get(field.metadata["group"])
        if group is not None:
            _add(group, field)
    return titles


def given(parsed):
    """`{name: value}` of the settings that were given."""
    return {name: getattr(parsed, name) for name in names() if name in parsed}


def _add(group, field):
    option = dict(field.metadata["option"])
    if field.type is dict:
        option["action"] = NamedValues
    elif field.type is bool:
        option["action"] = "store_true"
    elif field.type in (int, float):
        option["type"] = field.type
    elif field.type is list:
        option["action"] = _Words
    group.add_argument(
        _name(field),
        dest=field.name,
        default=argparse.SUPPRESS,
        help=_help(field),
        **option,
    )


def _name(field):
    name = field.name.removesuffix("s") if field.type is dict else field.name
    return f"--{name.replace('_', '-')}"


def _help(field):
    usual = field.default
    if usual in (None, False, 0) or usual is dataclasses.MISSING:
        return field.metadata["help"]
    return f"{field.metadata['help']} (default: {usual})"


class NamedValues(argparse.Action):
    """`--set a=1 b=2 --set c=3`: all of them."""

    def __call__(self, parser, namespace, words, option_string=None):
        try:
            found = named_values(words)
        except ValueError as error:
            parser.error(str(error))
        known = getattr(namespace, self.dest, None) or {}
        setattr(namespace, self.dest, {**known, **found})


class _Words(argparse.Action):
    """A list that JSON gives back as it is."""

    def __call__(self, parser, namespace, words, option_string=None):
        setattr(namespace, self.dest, list(words))
