"""The command: verbs, errors without tracebacks, exit codes."""

import argparse
import contextlib
import os
import sys
import warnings
from importlib import metadata

from keras_seqattn.cli import (
    evaluate,
    export,
    inspect,
    score,
    serve,
    tasks,
    train,
    translate,
)
from keras_seqattn.cli.errors import RunFailed

VERBS = (train, translate, evaluate, score, export, serve, inspect, tasks)
USER_ERRORS = (ValueError, OSError, ImportError, NotImplementedError)
FAILURES = (RunFailed, FloatingPointError)
EXAMPLES = """\
examples:
  seqattn train --task dates --preset small --out runs/dates
  seqattn translate runs/dates --alignments
  seqattn train --source train.en --target train.de --preset small --out runs/de
  seqattn translate runs/de news.en > news.de

Every verb has its own help: seqattn train --help
"""


def main(arguments=None):
    """Runs a command.

    Args:
        arguments: list of strings; None: those of the process.

    Returns:
        The exit code: 0; 1 for a run that has failed (it diverged, or it could not be
        saved); 2 for an error of the user; 130 for Ctrl-C.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        parsed = parse(given)
    except SystemExit as done:  # --help, or a wrong option, which argparse explains
        return done.code
    return run(parsed, given)


def parse(given):
    """The options of a verb; quick: nothing slow is imported."""
    return make_parser().parse_args(given or ["--help"])


def run(parsed, given):
    """Does what was asked for."""
    parsed.command = given
    with _plain_warnings():
        try:
            code = parsed.do(parsed) or 0
            sys.stdout.flush()
            return code
        except BrokenPipeError:  # who reads the output, e.g. `head`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except (*FAILURES, *USER_ERRORS) as error:
            if parsed.debug:
                raise
            _say("error", error)
            return 1 if isinstance(error, FAILURES) else 2
        except KeyboardInterrupt:
            if parsed.debug:
                raise
            return 130


def make_parser():
    """The parser of all verbs."""
    how = {"formatter_class": _Formatter, "allow_abbrev": False}
    parser = argparse.ArgumentParser(
        prog="seqattn",
        description="Recurrent attention: trains translators, and uses them.",
        epilog=EXAMPLES,
        **how,
    )
    parser.add_argument("--version", action="version", version=_version())
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for module in VERBS:
        verb = verbs.add_parser(
            module.__name__.rpartition(".")[2],
            help=module.HELP,
            description=module.__doc__,
            epilog=module.EXAMPLES,
            **how,
        )
        module.configure(verb)
        verb.add_argument(
            "--debug", action="store_true", help="errors with their traceback"
        )
        verb.set_defaults(do=module.run)
    return parser


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of examples; has room for long options."""

    def __init__(self, prog):
        super().__init__(prog, max_help_position=30)


def _version():
    try:
        return f"keras_seqattn {metadata.version('keras_seqattn')}"
    except metadata.PackageNotFoundError:
        return "keras_seqattn, not installed"


@contextlib.contextmanager
def _plain_warnings():
    """Warnings of the library as one line."""

    def show(message, category, filename, lineno, file=None, line=None):
        _say("warning", message)

    with warnings.catch_warnings():
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield


def _say(kind, message):
    print(f"seqattn: {kind}: {message}", file=sys.stderr)
