"""Large answers are written and sent in pieces."""

import json
import socket
import time
from types import SimpleNamespace

import numpy as np
import pytest

from keras_seqattn.serving import predict_response
from keras_seqattn.serving.json_tensors import to_json
from keras_seqattn.serving.predict_request import SignatureCall
from tests.serving.test_batches import half_asked, until
from tests.serving.thread import serving


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


@pytest.mark.parametrize("rows, width", [(1, 2), (3, 50), (2, 9_000), (20_000, 2)])
@pytest.mark.parametrize("is_by_row", [True, False])
@pytest.mark.parametrize("names", [["alignment"], ["score"], None], ids=str)
def test_pieces_are_the_whole(rows, width, is_by_row, names):
    outputs = arrays(rows, width)
    outputs = {name: outputs[name] for name in names or outputs}
    call = SignatureCall(None, {}, rows, is_by_row, (1, 1))
    values = {name: to_json(name, array) for name, array in outputs.items()}
    if names:
        [expected] = values.values()
    elif is_by_row:
        columns = zip(*values.values(), strict=True)
        expected = [dict(zip(values, row, strict=True)) for row in columns]
    else:
        expected = values
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


def test_rows_are_checked_before_a_byte_is_sent():
    signature = SimpleNamespace(name="total")
    call = SignatureCall(signature, {}, 3, True, (1, 1))
    with pytest.raises(Exception, match="does not work with this signature"):
        predict_response.check_rows(call, {"x": np.zeros((20_000, 9))})


# Of a server --------------------------------------------------------------------------


def repeated(text, times):
    """An answer of any size."""
    inputs = {"text": [text], "times": times}
    return {"signature_name": "repeat", "inputs": inputs}


def test_large_answers_come_in_pieces(odd):
    with serving(odd) as client:
        body = json.dumps(repeated("a" * 40, 50_000)).encode()
        reply = client.post(body)
        assert reply.status == 200 and reply.headers["Transfer-Encoding"] == "chunked"
        assert reply.json == {"outputs": ["a" * 40] * 50_000}
        reply = client.post(json.dumps(repeated("a", 300)).encode())
        assert reply.headers["Content-Length"] == str(len(reply.body))
        assert reply.json == {"outputs": ["a"] * 300}


def test_the_server_answers_while_it_writes(odd):
    """Two million values take seconds."""
    with serving(odd) as client:
        connection = half_asked(client, repeated("abc", 2_000_000))
        with connection, connection.makefile("rb") as stream:
            assert stream.readline() == b"HTTP/1.1 200 OK\r\n"
            for _ in range(50):
                assert client.request("GET", "/healthz").status == 200
                stream.read(100_000)
            assert len(stream.read(100_000)) == 100_000  # it still writes


def test_a_client_that_does_not_read(odd):
    """Its connection ends, and its answer is not written to the end."""
    with serving(odd, timeout=2.0) as client:
        with half_asked(client, repeated("a" * 40, 500_000)) as connection:
            connection.settimeout(30)
            until(
                client, lambda found: found.get(("seqattn_batch_rows_sum", ("repeat",)))
            )
            time.sleep(3.5)
            end = b""
            while part := connection.recv(1_000_000):
                end = (end + part)[-9:]
            assert not end.endswith(b"0\r\n\r\n")
        assert client.ask(instances=[1.0]) == {"predictions": [0.5]}


def test_a_client_of_http_1_0(odd):
    with serving(odd) as client:
        body = json.dumps(repeated("a" * 40, 50_000)).encode()
        with socket.create_connection(("127.0.0.1", client.port), 60) as connection:
            head = (
                f"POST {client.path()} HTTP/1.0\r\nContent-Type: application/json\r\n"
            )
            head += f"Content-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
            with connection.makefile("rb") as stream:
                answer = stream.read()
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.0 200") and b"chunked" not in head
        assert json.loads(body) == {"outputs": ["a" * 40] * 50_000}
