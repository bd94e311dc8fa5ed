"""JSON values and arrays, one type after the other."""

import tracemalloc

import numpy as np
import pytest

from keras_seqattn.serving.http_errors import HttpError, short_json
from keras_seqattn.serving.json_tensors import to_array, to_json
from keras_seqattn.serving.model import Spec


def spec(dtype, *shape):
    return Spec(np.dtype(dtype), shape)


@pytest.mark.parametrize(
    "value, dtype, shape",
    [
        ([1, -2], "int64", (None,)),
        ([[0], [255]], "uint8", (None, 1)),
        (3, "int32", ()),
        ([1, 2.5, -0.0], "float32", (None,)),
        ([[[1.0]]], "float64", (None, None, None)),
        ([True, False], "bool", (2,)),
        ([["a", "é\0"]], "object", (None, 2)),
        ([], "object", (None,)),
        ([[], []], "float32", (None, None)),
    ],
)
def test_there_and_back(value, dtype, shape):
    array = to_array("x", value, spec(dtype, *shape))
    assert array.dtype == dtype and array.shape == np.shape(value)
    assert to_json("x", array) == value


def test_what_is_too_deep_to_be_shown():
    deep = 1
    for _ in range(100_000):
        deep = [deep]
    assert short_json(deep) == "lists that are nested too deeply"


def test_any_rank():
    anything = Spec(np.dtype("int32"), None)
    for value in (1, [1], [[[[2]]]]):
        assert to_json("x", to_array("x", value, anything)) == value
    deep = 1
    for _ in range(33):
        deep = [deep]
    with pytest.raises(HttpError) as caught:
        to_array("x", deep, anything)
    assert caught.value.message.startswith(
        "Input 'x' has the wrong shape. Expected at most 32 axes, received [1, 1, "
    )


@pytest.mark.parametrize(
    "value, dtype, expected",
    [
        (1.0, "int32", "an integer that int32 can hold"),
        (True, "int32", "an integer that int32 can hold"),
        (2**31, "int32", "an integer that int32 can hold"),
        (-1, "uint8", "an integer that uint8 can hold"),
        ("1", "int64", "an integer that int64 can hold"),
        (True, "float32", "a number that float32 can hold"),
        (1e39, "float32", "a number that float32 can hold"),
        (10**400, "float64", "a number that float64 can hold"),
        (float("inf"), "float64", "a number that float64 can hold"),
        (None, "float64", "a number that float64 can hold"),
        (0, "bool", "true or false"),
    ],
)
def test_wrong_types(value, dtype, expected):
    with pytest.raises(HttpError) as caught:
        to_array("x", [value], spec(dtype, None))
    assert caught.value.status == 400
    start = f"Input 'x' has a value of the wrong type. Expected {expected}, received "
    assert caught.value.message.startswith(start)
    assert caught.value.message.endswith(". See GET .../metadata for the types.")
    assert len(caught.value.message) < 250  # however long the value


@pytest.mark.parametrize(
    "value, received", [([[1, 2], [3]], "[3]"), ([[1, 2], 3], "3")]
)
def test_ragged(value, received):
    with pytest.raises(HttpError) as caught:
        to_array("x", value, spec("int32", None, None))
    assert caught.value.message == (
        "Input 'x' has lists of different lengths. Expected 2 elements in all lists of "
        f"one axis, received {received}. Make all of them equally long."
    )


def test_numbers_are_as_short_as_their_type_allows():
    short = np.array([0.1, 1 / 3, 1e-20, 3e38, 2], "float32")
    assert to_json("x", short) == [0.1, 0.33333334, 1e-20, 3e38, 2.0]
    assert to_json("x", np.array(0.1)) == 0.1
    assert to_json("x", np.array([np.nan, -np.inf, 1], "float64")) == [None, None, 1.0]


def test_bytes():
    array = np.array([[b"\xff", b""]], object)
    assert to_json("x_bytes", array) == [[{"b64": "/w=="}, {"b64": ""}]]
    assert to_json("x", array) == [["\ufffd", ""]]


def test_many_numbers_need_little_memory():
    numbers = np.arange(300_000, dtype="float32").reshape(3, 100_000) / 7
    numbers[1, 1] = np.nan
    tracemalloc.start()
    try:
        found = to_json("x", numbers)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == [[to_json("x", x) for x in row] for row in numbers]
    assert peak < 100 * numbers.size
