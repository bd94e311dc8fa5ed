"""The script `seqattn`: help and wrong options are answered before TensorFlow loads.

Whatever is imported from a package runs its `__init__.py` first, and that of
`keras_seqattn` imports everything. Here the package stands empty until the options
have been read.
"""

import contextlib
import importlib.util
import os
import sys


def main():
    """Reads the options, loads the library, does what was asked for."""
    spec = importlib.util.find_spec("keras_seqattn")
    package = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = package
    from keras_seqattn.cli.main import parse, run

    given = sys.argv[1:]
    parsed = parse(given)
    try:
        with quiet():
            spec.loader.exec_module(package)
    except KeyboardInterrupt:
        return 130
    return run(parsed, given)


@contextlib.contextmanager
def quiet():
    """TensorFlow reports on CPUs and GPUs when it loads, six lines, and logs later.

    Who sets TF_CPP_MIN_LOG_LEVEL hears what there is.
    """
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    if "TF_CPP_MIN_LOG_LEVEL" in os.environ:
        yield
        return
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    errors = os.dup(2)  # its own number: the lines come from C++
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(errors, 2)
        os.close(errors)


if __name__ == "__main__":
    sys.exit(main())
