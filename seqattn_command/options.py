"""Options that several verbs share, among them those made from `Settings`."""

import argparse
import dataclasses
import os

from seqattn_command.settings import GROUPS, Settings, names

# A test compares this list with the folder `saved_models`.
SHIPPED_MODELS = ("dates", "g2p", "numbers-en-de")


def add_settings(parser, groups=tuple(GROUPS)):
    """Add an option for each setting of some groups.

    An option that the user did not write has no value.

    Returns:
        The argument groups of the parser, by name.
    """
    titles = {name: parser.add_argument_group(GROUPS[name]) for name in groups}
    for field in dataclasses.fields(Settings):
        group = titles.get(field.metadata["group"])
        if group is not None:
            _add_setting(group, field)
    return titles


def written_settings(options):
    """Return `{name: value}` of the settings that the user wrote as options."""
    return {name: getattr(options, name) for name in names() if name in options}


def add_translator(parser):
    """Add the argument that names a translator."""
    parser.add_argument(
        "run",
        metavar="RUN",
        help="folder of a run or of a saved translator, or a shipped model: "
        + ", ".join(SHIPPED_MODELS),
    )


def is_translator(word):
    """Whether a word is the folder of a run or a translator, or a shipped model."""
    files = (os.path.join(word, name) for name in ("run.json", "translator.json"))
    return word in SHIPPED_MODELS or any(map(os.path.isfile, files))


def add_search(parser, has_n_best=False, has_batches=True):
    """Add the options of the search."""
    group = parser.add_argument_group("search (default: the translator's own)")
    group.add_argument(
        "--beam", type=int, metavar="K", help="width of the beam; 1 is greedy and fast"
    )
    group.add_argument(
        "--length-penalty",
        type=float,
        metavar="X",
        help="a higher penalty makes translations longer",
    )
    if has_batches:
        group.add_argument(
            "--batch-size",
            type=int,
            default=64,
            metavar="N",
            help="texts in a batch (default: %(default)s)",
        )
    if has_n_best:
        group.add_argument(
            "--n-best",
            type=int,
            metavar="N",
            help="print the N best translations of each text (default: the best)",
        )


def add_evaluation_data(parser):
    """Add the options that choose pairs with references."""
    add_settings(parser, ["data"])
    parser.add_argument(
        "--split",
        choices=["test", "validation"],
        help="split of a task or a corpus (default: test)",
    )


class NamedValues(argparse.Action):
    """`--set a=1 b=2 --set c=3` gives `{"a": "1", "b": "2", "c": "3"}`."""

    def __call__(self, parser, namespace, words, option_string=None):
        values = dict(getattr(namespace, self.dest, None) or {})
        for word in words:
            name, equals, value = word.partition("=")
            if not name or not equals:
                raise argparse.ArgumentError(
                    self,
                    f"expected NAME=VALUE without spaces, received {word!r}",
                )
            values[name.strip()] = value
        setattr(namespace, self.dest, values)


class _Words(argparse.Action):
    """A list, which is equal to what JSON reads back."""

    def __call__(self, parser, namespace, words, option_string=None):
        setattr(namespace, self.dest, list(words))


def _add_setting(group, field):
    option = dict(field.metadata["option"])
    if field.type is dict:
        option["action"] = NamedValues
    elif field.type is bool:
        option["action"] = "store_true"
    elif field.type in (int, float):
        option["type"] = field.type
    elif field.type is list:
        option["action"] = _Words
    name = field.name.removesuffix("s") if field.type is dict else field.name
    group.add_argument(
        f"--{name.replace('_', '-')}",
        dest=field.name,
        default=argparse.SUPPRESS,
        help=_help(field),
        **option,
    )


def _help(field):
    default = field.default
    if default in (None, False, 0) or default is dataclasses.MISSING:
        return field.metadata["help"]
    return f"{field.metadata['help']} (default: {default})"
