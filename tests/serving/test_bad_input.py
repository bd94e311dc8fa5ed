"""Bad input gets a defined answer or a clear error, and the server continues."""

import json

import pytest

from tests.raised import check_message

pytestmark = pytest.mark.system
HINT = 'Send for example {"instances": ["a text"]}.'
ABC = b'{"instances": ["abc"]}'


@pytest.fixture(autouse=True, scope="module")
def still_running(process):
    yield
    assert process.client.ask(instances=["abc"])["predictions"][0]["text"]


@pytest.mark.parametrize(
    "text",
    ["a\0b", "\0", "語", "\u202e\u0301", "\U0001f600", "\ufeff", "a\nb\tc", "x" * 300],
)
def test_odd_texts(client, text):
    [answer] = client.ask(instances=[text])["predictions"]
    assert isinstance(answer["text"], str) and answer["score"] < 0


@pytest.mark.parametrize("text", ["", " ", "\t \n", "\u3000"])
def test_blank_texts(client, text):
    assert client.ask(instances=[text])["predictions"] == [{"text": "", "score": 0}]


@pytest.mark.parametrize("b64", ["//4=", "7aCA", "AA=="], ids=["FF FE", "half", "NUL"])
def test_bytes_that_are_no_text(client, b64):
    name = "translate_with_attention"
    answer = client.ask(signature_name=name, inputs=[{"b64": b64}])["outputs"]
    assert answer["texts"][0][0] and answer["source_lengths"][0] > 1


@pytest.mark.parametrize(
    "body, error",
    [
        (b"", "Expecting value: line 1 column 1 (char 0)"),
        (b"{", "Expecting property name enclosed in double quotes"),
        (b"a text", "Expecting value"),
        (b'{"instances": ["a"]} {}', "Extra data"),
        (b'{"instances": ["\xff"]}', "'utf-8' codec can't decode byte 0xff"),
        (b'{"instances": ["\xed\xa0\x80"]}', "'utf-8' codec can't decode byte 0xed"),
        (b'{"instances": ["a\0"]}', "Invalid control character at"),
        (b'{"instances": [NaN]}', "NaN is not valid JSON"),
        (b'{"instances": [-Infinity]}', "-Infinity is not valid JSON"),
        (b"[" * 100_000, "recursion depth exceeded"),
        (b'{"instances": [' + b"1" * 5_000 + b"]}", "Exceeds the limit"),
        ("{}".encode("utf-16"), "'utf-8' codec can't decode"),
    ],
)
def test_no_json(client, body, error):
    reply = client.post(body)
    assert reply.status == 400
    received = f"an object in UTF-8, received {len(body)} bytes with the error "
    check_message(reply.error, "The body is not valid JSON", received, error, HINT)


def test_lists_in_lists_and_no_object(client):
    for depth in range(900, 1001):
        reply = client.post(b"[" * depth + b"]" * depth)
        assert reply.status == 400, depth
        assert reply.error.startswith("The body is not "), depth
    assert client.post(b'["a"]').error == (
        'The body is not an object. Expected an object with "instances" or "inputs", '
        f'received ["a"]. {HINT}'
    )


NAMES = "must have exactly the names of the signature's inputs. Expected an object with"
PAIR, SCORE = {"source": "a", "target": "b"}, {"signature_name": "score"}
UNEVEN = {"source": ["a"], "target": ["a"] * 2}
UNUSABLE = {  # the beginning of a message: what was asked, and what the rest says
    'Send exactly one of "instances" and "inputs". Expected an object with "inst': [
        ({}, "neither in {}"),
        ({"examples": ["a"]}, 'neither in {"examples": ["a"]}. Send for example {"'),
        ({"inputs": [], "instances": []}, "instances and inputs"),
    ],
    "The model does not have this signature. Expected one of encode, nbest, score, "
    "serving_default, translate_with_attention, received": [
        ({"signature_name": "Score", "instances": ["a"]}, '"Score". Check "signature'),
        ({"signature_name": 7, "instances": ["a"]}, "7"),
        ({"signature_name": None, "instances": ["a"]}, '"serving_default"'),
        ({"signature_name": ["score"], "instances": ["a"]}, '["score"]'),
        ({"signature_name": "__saved_model_init_op", "inputs": []}, '"__saved_model_'),
    ],
    '"instances" is not a list with values. Expected a list of one or more ': [
        ({"instances": value}, f"received {json.dumps(value)}. Put a single text into")
        for value in ([], "abc", {}, None, 3)
    ],
    f"An instance {NAMES} text, received": [
        ({"instances": [{"words": "a"}]}, '["words"]. See GET .../metadata for the'),
        ({"instances": [{}]}, "[]"),
        ({"instances": [{"text": "a", "n": 1}]}, '["n", "text"]'),
    ],
    f'"inputs" {NAMES} text, received': [
        ({"inputs": {"words": "a"}}, '["words"]'),
        ({"inputs": {}}, "[]"),
        ({"inputs": {"text": "a", "n": 1}}, '["n", "text"]'),
    ],
    f"An instance {NAMES} source, target, received": [
        ({**SCORE, "instances": pairs}, '"a"') for pairs in (["a"], [PAIR, "a"])
    ],
    "Input 'text' has the wrong shape. Expected [any], received": [
        ({"inputs": "a"}, '[] from "a". Nest lists as GET .../metadata says. In'),
        ({"inputs": [["a"]]}, '[1, 1] from [["a"]]'),
        ({"instances": [["a", "b"], ["c"]]}, '[2, 2] from [["a", "b"], ["c"]]'),
        ({"inputs": {"text": None}}, "[] from null"),
        ({"inputs": {"b64": "YQ=="}}, '[] from {"b64": "YQ=="}'),
    ],
    "Input 'text' has a value of the wrong type. Expected a string or ": [
        ({"inputs": ["a", leaf]}, f"received {json.dumps(leaf)}. See GET .../metadata")
        for leaf in (1, 0.5, True, None, ["a"], {"b64": 1}, {"a": 1})
    ],
    "Input 'text' has a value that is not base64. Expected": [
        ({"instances": [{"b64": b64}]}, f'received {{"b64": {json.dumps(b64)}}}. Enc')
        for b64 in ("YQ", "Y Q==", "ä")
    ],
    "Input 'text' has an unpaired surrogate. Expected": [
        ({"instances": ["\ud800"]}, 'received "\\ud800". Escape a character above U+F'),
    ],
    "The inputs have different numbers of rows. Expected one row for each instance": [
        ({**SCORE, "inputs": UNEVEN}, "received 1 in source, 2 in target. Send the sa")
    ],
}


@pytest.mark.parametrize(
    "asked, what, rest",
    [(asked, what, rest) for what, rows in UNUSABLE.items() for asked, rest in rows],
)
def test_unusable_values(client, asked, what, rest):
    check_message(client.refused(**asked), what, rest)


@pytest.mark.parametrize("text, size", [("é" * 301, 301), ("a" * 100_000, 100_000)])
def test_long_text(client, text, size):
    for instance in (text, {"text": text}):
        check_message(
            client.refused(instances=[instance], status=413),
            "Input 'text' has a text that is too long. Expected at most 300 ",
            f"received {size}. Split it, or start the server with a larger --max-text",
        )


def test_many_instances(client):
    assert client.ask(instances=["a"] * 64)
    assert client.refused(instances=["a"] * 65, status=413) == (
        "The request has too many instances. Expected at most 64, received 65. Send "
        "several requests, or start the server with a larger --batch."
    )


@pytest.mark.parametrize("in_chunks", [False, True])
def test_large_body(client, in_chunks):
    body = b'{"instances": ["' + b"a" * 3_000_000 + b'"]}'
    reply = client.post(iter([body[:500_000]] * 6) if in_chunks else body)
    assert (reply.status, reply.headers["Connection"]) == (413, "close")
    assert reply.error == (
        "The body is too large. Expected at most 1000000 bytes, received more. Send "
        "several requests, or start the server with a larger --max-body."
    )


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, GZIP"])
def test_encoded(client, encoding):
    """It is not read: nothing can decode this body."""
    reply = client.post(b"\x1f\x8bno gzip", headers={"Content-Encoding": encoding})
    assert (reply.status, reply.headers["Connection"]) == (415, "close")
    expected = f"no header Content-Encoding, received {encoding!r}. Send the JSON"
    check_message(reply.error, "The body is encoded", expected)


@pytest.mark.parametrize("kind", ["text/plain", "application/jsonp", "", None])
def test_wrong_content_type(client, kind):
    headers = {} if kind is None else {"Content-Type": kind}
    reply = client.request("POST", client.path(), ABC, headers)
    assert reply.status == 415
    assert reply.error == (
        "The body has the wrong type. Expected the header Content-Type: "
        f"application/json, received {'none' if kind is None else kind!r}. Add it; "
        "with curl: -H 'Content-Type: application/json'."
    )


def test_right_headers(client):
    for kind in ("application/json; charset=utf-8", "Application/JSON"):
        assert client.post(ABC, headers={"Content-Type": kind}).status == 200
    assert client.post(ABC, headers={"Content-Encoding": "identity"}).status == 200


PATHS = ["/", "/v1/models", "/v1/models/m:classify", "/%0d%0a"]
LONG = [f"/v1/models/m/versions/{'1' * digits}" for digits in (19, 5_000)]  # no int


@pytest.mark.parametrize("path", PATHS + LONG, ids=lambda path: path[:30])
def test_unknown_path(client, path):
    reply = client.request("POST", path, b"{}")
    assert reply.status == 404
    assert reply.error == (
        "The server does not know this path. Expected /v1/models/NAME:predict or "
        "another path of TensorFlow Serving's REST API, received "
        f"{path[:100]!r}. Check the URL."
    )


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_wrong_method(client, method):
    reply = client.request(method, client.path())
    assert (reply.status, reply.headers["Allow"]) == (405, "POST")
    what = "The path does not support this method. Expected POST, received"
    check_message(reply.error, what, f"{method}. Use POST for :predict, and GET for")


@pytest.mark.parametrize("end", ["", "/metadata"])
def test_unknown_model(client, end):
    what = "The server does not have this model. Expected 'm', version 1 or 2, received"
    for path, rest in {"n": "'n', version 2", "m/versions/3": "'m', version 3"}.items():
        reply = client.request("GET", f"/v1/models/{path}{end}")
        assert reply.status == 404
        check_message(reply.error, what, f"{rest}. Check the URL")


def test_no_http(client):
    with client.connect() as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        answer = connection.recv(10_000)
    assert answer.startswith(b"HTTP/1.") and b" 400 " in answer
    assert b"Traceback" not in answer and b".py" not in answer


def test_inputs_that_the_model_refuses_and_a_model_that_fails(client, process):
    said = client.refused(1, signature_name="picky", instances=["good", "bad"])
    rest = "inputs that the signature picky can use, received an error while computing"
    check_message(said, "The model cannot use these inputs", rest)
    process.wait_for("picky cannot use its inputs\n(?s:.*)a secret")
    asked = {"signature_name": "read", "instances": ["/no/such/file"]}
    assert client.refused(1, status=500, **asked) == (
        "The server has failed. Expected an answer, received an error while computing. "
        "Tell the operator of the server: the log has the details."
    )
    process.wait_for("a request failed\n(?s:.*)No such file")
