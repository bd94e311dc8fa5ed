"""JSON and arrays, one type after the other; large answers in pieces."""

import functools
import json
import tracemalloc

import numpy as np
import pytest

from keras_seqattn.serving import predict_response
from keras_seqattn.serving.http_errors import HttpError, short_json
from keras_seqattn.serving.json_tensors import to_array, to_json
from keras_seqattn.serving.predict_request import SignatureCall
from keras_seqattn.serving.signature import Spec
from tests.raised import check_message
from tests.serving.client import read_all, until
from tests.serving.servers import serving


def nested(depth):
    return functools.reduce(lambda value, _: [value], range(depth), 1)


def spec(dtype, *shape):
    return Spec(np.dtype(dtype), shape)


ANYTHING = Spec(np.dtype("int32"), None)


@pytest.mark.parametrize(
    "value, dtype, shape",
    [
        *[([1, -2], "int64", (None,)), ([[0], [255]], "uint8", (None, 1))],
        *[(3, "int32", ()), ([1, 2.5, -0.0], "float32", (None,))],
        *[([[[1.0]]], "float64", (None,) * 3), ([True, False], "bool", (2,))],
        *[([["a", "é\0"]], "object", (None, 2)), ([], "object", (None,))],
        ([[], []], "float32", (None, None)),
    ],
)
def test_there_and_back(value, dtype, shape):
    array = to_array("x", value, spec(dtype, *shape))
    assert array.dtype == dtype and array.shape == np.shape(value)
    assert to_json("x", array) == value


def test_any_rank():
    for value in (1, [1], [[[[2]]]]):
        assert to_json("x", to_array("x", value, ANYTHING)) == value


WRONG = [
    (nested(33), ANYTHING, "the wrong shape. Expected at most 32 axes, received [1, 1"),
    *(
        ([value], spec(dtype, None), f"a value of the wrong type. Expected {expected}")
        for expected, dtype, values in [
            ("an integer that int32 can hold", "int32", [1.0, True, 2**31]),
            ("an integer that uint8 can hold", "uint8", [-1]),
            ("an integer that int64 can hold", "int64", ["1"]),
            ("a number that float32 can hold", "float32", [True, 1e39]),
            ("a number that float64 can hold", "float64", [10**400, np.inf, None]),
            ("true or false", "bool", [0]),
        ]
        for value in values
    ),
    (
        [[1, 2], [3]],
        spec("int32", None, None),
        "lists of different lengths. Expected 2 elements in all lists of one axis, "
        "received [3]. Make all of them equally long",
    ),
    ([[1, 2], 3], spec("int32", None, None), "lists of different lengths"),
]


@pytest.mark.parametrize("value, wanted, what", WRONG)
def test_wrong_values(value, wanted, what):
    with pytest.raises(HttpError) as caught:
        to_array("x", value, wanted)
    assert caught.value.status == 400
    check_message(caught.value.message, f"Input 'x' has {what}")
    assert len(caught.value.message) < 350  # however long the value


def test_deep_lists_are_not_shown_and_numbers_are_as_short_as_possible():
    assert short_json(nested(100_000)) == "lists that are nested too deeply"
    short = np.array([0.1, 1 / 3, 1e-20, 3e38, 2], "float32")
    assert to_json("x", short) == [0.1, 0.33333334, 1e-20, 3e38, 2.0]
    assert to_json("x", np.array(0.1)) == 0.1
    assert to_json("x", np.array([np.nan, -np.inf, 1], "float64")) == [None, None, 1.0]


def test_many_numbers_need_little_memory():
    numbers = np.arange(150_000, dtype="float32").reshape(3, 50_000) / 7
    numbers[1, 1] = np.nan
    tracemalloc.start()
    found = to_json("x", numbers)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * numbers.size
    assert np.array_equal(np.array(found, "float32"), numbers, equal_nan=True)
    assert found[2][-9:] == [to_json("x", number) for number in numbers[2, -9:]]


def arrays(rows, width):
    random = np.random.default_rng(1)
    floats = random.normal(size=(rows, 3, width)).astype("float32")
    floats[0, 0, :1] = np.nan
    words = [[f"é{i}\n" for i in range(width)] for _ in range(rows)]
    return {
        "alignment": floats,
        "ids": random.integers(-9, 9, (rows, width)),
        "texts": np.char.encode(np.array(words, str), "utf-8").astype(object),
        "score": floats[:, 1, 1],
        "flag": np.arange(rows) % 2 == 0,
    }


@pytest.mark.parametrize("rows, width", [(1, 2), (3, 50), (2, 5_000), (5_000, 2)])
@pytest.mark.parametrize("is_by_row", [True, False])
@pytest.mark.parametrize("names", [["alignment"], ["score"], None], ids=str)
def test_pieces_are_the_whole(rows, width, is_by_row, names):
    outputs = arrays(rows, width)
    outputs = {name: outputs[name] for name in names or outputs}
    call = SignatureCall(None, {}, rows, is_by_row, (1, 1))
    values = {name: to_json(name, array) for name, array in outputs.items()}
    expected = values if names is None else values[names[0]]
    if is_by_row and names is None:
        rows_of_all = zip(*values.values(), strict=True)
        expected = [dict(zip(values, row, strict=True)) for row in rows_of_all]
    texts = list(predict_response.pieces(call, outputs))
    key = "predictions" if is_by_row else "outputs"
    expected = json.dumps({key: expected}, ensure_ascii=False)
    assert "".join(texts) == expected
    assert all(len(text) >= predict_response.TEXT for text in texts[:-1])
    assert max(map(len, texts)) < 3 * predict_response.TEXT


def test_no_values():
    call = SignatureCall(None, {}, 0, False, (1, 1))
    outputs = {"x": np.zeros((0, 3)), "y": np.zeros((2, 0, 5_000)), "z": np.array(2)}
    expected = {"outputs": {"x": [], "y": [[], []], "z": 2}}
    assert json.loads("".join(predict_response.pieces(call, outputs))) == expected


def repeated(text, times):
    return {"signature_name": "repeat", "inputs": {"text": [text], "times": times}}


def test_large_answers_come_in_pieces(odd):
    with serving(odd) as client:
        reply = client.send(**repeated("a" * 40, 50_000))
        assert reply.status == 200 and reply.headers["Transfer-Encoding"] == "chunked"
        assert reply.json == {"outputs": ["a" * 40] * 50_000}
        small = client.send(**repeated("a", 300))
        assert small.headers["Content-Length"] == str(len(small.body))
        old = json.dumps(repeated("a" * 40, 50_000)).encode()
        with client.begin(old, protocol="HTTP/1.0") as connection:
            head, body = read_all(connection)
        assert head.startswith("HTTP/1.0 200") and "chunked" not in head
        assert body == reply.body


def test_the_server_answers_while_it_writes(odd):
    with serving(odd) as client:
        connection = client.begin_to_ask(**repeated("abc", 1_000_000))
        with connection, connection.makefile("rb") as stream:
            assert stream.readline() == b"HTTP/1.1 200 OK\r\n"
            for _ in range(20):
                assert client.request("GET", "/healthz").status == 200
                stream.read(100_000)
            assert len(stream.read(100_000)) == 100_000  # it still writes


def test_a_client_that_does_not_read(odd):
    with serving(odd, timeout=2.0) as client:
        with client.begin_to_ask(**repeated("a" * 40, 500_000)) as connection:
            done = "seqattn_requests_total", ("200", "predict")
            until(lambda: client.metrics().get(done))
            connection.settimeout(30)
            end = b""
            while part := connection.recv(1_000_000):
                end = (end + part)[-9:]
            assert not end.endswith(b"0\r\n\r\n")
        assert client.ask(instances=[1.0]) == {"predictions": [0.5]}
