"""No message is assembled by hand: `keras_seqattn.errors` builds all of them."""

import ast
from pathlib import Path

import pytest

from keras_seqattn.errors import four_part_error, four_parts

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


def test_the_four_parts():
    parts = "Owner got an unusable x", "an int", "x='a'", "Pass 1"
    message = "Owner got an unusable x. Expected an int, received x='a'. Pass 1."
    assert four_parts(*parts) == message
    error = four_part_error(*parts, kind=OSError)
    assert type(error) is OSError and str(error) == message
    assert type(four_part_error(*parts)) is ValueError


@pytest.mark.parametrize("part", four_parts.__code__.co_varnames)
def test_every_part_is_needed(part):
    parts = {name: name for name in four_parts.__code__.co_varnames if name != part}
    with pytest.raises(TypeError, match=part):
        four_parts(**parts)
