"""The parser of all verbs."""

import argparse
import shlex
from importlib import metadata

from seqattn_command.verb_parser import VerbParser
from seqattn_command.verbs import (
    evaluate,
    export,
    inspect,
    score,
    serve,
    tasks,
    train,
    translate,
)

VERBS = {
    "train": train,
    "translate": translate,
    "evaluate": evaluate,
    "score": score,
    "export": export,
    "serve": serve,
    "inspect": inspect,
    "tasks": tasks,
}
OPTIONS = ("-h", "--help", "--version")  # before a verb
EXAMPLES = """\
examples:
  seqattn train --task dates --preset small --out runs/dates
  seqattn translate runs/dates --alignments
  seqattn train --source train.en --target train.de --preset small --out runs/de
  seqattn translate runs/de news.en > news.de

Every verb has its own help: seqattn train --help
"""


def parse(arguments):
    """Return the parsed options of a verb; no arguments mean `--help`."""
    parser, arguments = make_parser(), list(arguments) or ["--help"]
    verb = next((word for word in arguments if word in VERBS), None)
    if verb and arguments[0].startswith("-") and arguments[0] not in OPTIONS:
        arguments.remove(verb)
        words = shlex.join(["seqattn", verb, *arguments])
        parser.error(f"the verb comes first, before its options. Write {words}")
    return parser.parse_args(arguments)


def make_parser():
    """Return the parser of all verbs."""
    style = {"formatter_class": _Formatter, "allow_abbrev": False}
    parser = argparse.ArgumentParser(
        prog="seqattn",
        description="Train translators with attention, and use them.",
        epilog=EXAMPLES,
        **style,
    )
    parser.add_argument("--version", action="version", version=_version())
    verbs = parser.add_subparsers(
        title="verbs",
        metavar="VERB",
        dest="verb",
        required=True,
        parser_class=VerbParser,
    )
    for name, module in VERBS.items():
        verb = verbs.add_parser(
            name,
            help=module.HELP,
            description=module.__doc__,
            epilog=module.EXAMPLES,
            **style,
        )
        module.add_options(verb)
        verb.add_argument(
            "--debug", action="store_true", help="show errors with their traceback"
        )
    return parser


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help that keeps the line breaks of examples and has room for long options."""

    def __init__(self, prog):
        super().__init__(prog, max_help_position=30)


def _version():
    try:
        return f"keras_seqattn {metadata.version('keras_seqattn')}"
    except metadata.PackageNotFoundError:
        return "keras_seqattn, not installed"
