"""Run a command: load TensorFlow quietly, print errors without traceback, exit."""

import contextlib
import importlib
import os
import sys
import warnings

from seqattn_command.parser import parse


class RunFailed(Exception):
    """A run failed, although its options are correct: the exit code is 1."""


FAILURES = (RunFailed, FloatingPointError)
USER_ERRORS = (ValueError, OSError, ImportError, NotImplementedError)


def main(arguments=None):
    """Run a command.

    Args:
        arguments: list of strings; None means the arguments of the process.

    Returns:
        The exit code: 0 for success; 1 for a run that failed (it diverged, or it could
        not be saved); 2 for an error of the user; 130 for Ctrl-C.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = parse(arguments)
    except SystemExit as end:  # --help, or a wrong option, which argparse explains
        return end.code
    options.command = arguments
    with _one_line_warnings():
        try:
            code = load_verb(options.verb).run(options) or 0
            sys.stdout.flush()
            return code
        except BrokenPipeError:  # the reader of the output, e.g. `head`, has ended
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except (*FAILURES, *USER_ERRORS) as error:
            if options.debug:
                raise
            _print_message("error", error)
            return 1 if isinstance(error, FAILURES) else 2
        except KeyboardInterrupt:
            if options.debug:
                raise
            return 130


def load_verb(name):
    """Return the module of a verb. This loads Keras and TensorFlow."""
    with _quiet_tensorflow():
        return importlib.import_module(f"keras_seqattn.cli.{name}")


@contextlib.contextmanager
def _quiet_tensorflow():
    """Hide the lines about CPUs and GPUs that TensorFlow logs when it loads.

    The log level also hides later lines. The environment variable TF_CPP_MIN_LOG_LEVEL
    shows all of them again.
    """
    if "tensorflow" in sys.modules:
        yield
        return
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    if "TF_CPP_MIN_LOG_LEVEL" in os.environ:
        yield
        return
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    standard_error = os.dup(2)  # the C++ code writes to file descriptor 2
    try:
        with open(os.devnull, "w") as null:
            os.dup2(null.fileno(), 2)
        yield
    finally:
        os.dup2(standard_error, 2)
        os.close(standard_error)


@contextlib.contextmanager
def _one_line_warnings():
    """Print each warning of the library as one line."""

    def show(message, category, filename, lineno, file=None, line=None):
        _print_message("warning", message)

    with warnings.catch_warnings():
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield


def _print_message(kind, message):
    print(f"seqattn: {kind}: {message}", file=sys.stderr)
