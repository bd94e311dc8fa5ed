"""No message is assembled by hand: `keras_seqattn.errors` builds all of them."""

import ast
import functools
from pathlib import Path

import pytest

from keras_seqattn import manifest
from keras_seqattn.errors import four_part_error, four_parts, missing_package
from keras_seqattn.serving.http_errors import http_error

ROOT = Path(__file__).parents[2]
FOLDERS = ("keras_seqattn", "zoo", "seqattn_command")
BUILT_IN = {
    *("ValueError", "TypeError", "ImportError", "OSError", "RuntimeError"),
    *("NotImplementedError", "FileNotFoundError", "AttributeError", "KeyError"),
    *("FloatingPointError", "ConnectionError", "LookupError", "IndexError"),
}
OTHERS = (
    "keras_seqattn/__init__.py",  # Python's own words, and where a name is now
    "keras_seqattn/testing",  # which promise a layer breaks
    # Reasons, which the error of the caller quotes:
    "keras_seqattn/cli/run_json.py",
    "keras_seqattn/cli/run_lock.py",
    "keras_seqattn/safe_reading.py",
    "keras_seqattn/serving/predict_request.py",
    "keras_seqattn/text/hub_tokenizer.py",
)


def raises():
    """(file, line, name of what is called) of each `raise NAME(...)`."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                    name = ast.unparse(node.exc.func)
                    yield path.relative_to(ROOT).as_posix(), node.lineno, name


def test_no_message_is_assembled_by_hand():
    by_hand = [
        f"{file}:{line} raises {name}"
        for file, line, name in raises()
        if name in BUILT_IN and not file.startswith(OTHERS)
    ]
    assert not by_hand, "use four_part_error of keras_seqattn/errors.py"


PARTS = "Owner got an unusable x", "an int", "x='a'", "Pass 1"
BUILDERS = {
    "four_parts": four_parts,
    "four_part_error": four_part_error,
    "another kind": functools.partial(four_part_error, kind=OSError),
    "of the server": functools.partial(http_error, 400),
    "of a manifest, which runs without the library": manifest._four_part_error,
}


@pytest.mark.parametrize("name", BUILDERS)
def test_the_four_parts(name):
    message = "Owner got an unusable x. Expected an int, received x='a'. Pass 1."
    assert str(BUILDERS[name](*PARTS)) == message
    for count in range(4):
        with pytest.raises(TypeError, match="missing"):
            BUILDERS[name](*PARTS[:count])


def test_missing_packages():
    error = ImportError("no plot")
    found = missing_package("f", "plot", error, extra="p", otherwise="do without")
    assert type(found) is ImportError and str(found) == (
        'f needs a package that is not installed. Expected plot, received "no plot". '
        'Run pip install "keras_seqattn[p]", or in a checkout pip install -e ".[p]"; '
        "do without."
    )
    found = missing_package("f", "plot", error, requirement="plot>=2")
    assert str(found).endswith('received "no plot". Run pip install "plot>=2".')


def test_kinds_of_errors():
    assert type(four_part_error(*PARTS)) is ValueError
    assert type(BUILDERS["another kind"](*PARTS)) is OSError
