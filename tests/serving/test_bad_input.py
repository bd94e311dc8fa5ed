"""Bad input gets a defined answer or a clear error, and the server continues."""

import gzip
import json
import socket
import time

import pytest

pytestmark = pytest.mark.system
HINT = 'Send for example {"instances": ["a text"]}.'
SIGNATURES = "encode, nbest, score, serving_default, translate_with_attention"


@pytest.fixture(autouse=True)
def still_running(client):
    """The server still answers after each test."""
    yield
    assert client.ask(instances=["abc"])["predictions"][0]["text"]


# Defined answers ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["a\0b", "\0", "語", "\u202e\u0301", "\U0001f600", "\ufeff", "a\nb\tc", "x" * 300],
)
def test_odd_texts(client, text):
    [[answer]] = client.ask(instances=[text]).values()
    assert isinstance(answer["text"], str) and answer["score"] < 0


@pytest.mark.parametrize("text", ["", " ", "\t \n", "\u3000"])
def test_blank_texts(client, text):
    [[answer]] = client.ask(instances=[text]).values()
    assert answer["text"] == ""


@pytest.mark.parametrize(
    "b64", ["//4=", "7aCA", "AA=="]
)  # FF FE, half a character, NUL
def test_bytes_that_are_no_text(client, b64):
    name = "translate_with_attention"
    answer = client.ask(signature_name=name, inputs=[{"b64": b64}])["outputs"]
    assert answer["texts"][0][0] and answer["source_lengths"][0] > 1


# What is not JSON ---------------------------------------------------------------------


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
    start = "The body is not valid JSON. Expected an object in UTF-8, received "
    assert reply.error.startswith(f"{start}{len(body)} bytes with the error ")
    assert error in reply.error and reply.error.endswith(f". {HINT}")


def test_lists_in_lists(client):
    """However many: a few more can be read than written."""
    for depth in range(900, 1001):
        reply = client.post(b"[" * depth + b"]" * depth)
        assert reply.status == 400, depth
        assert reply.error.startswith("The body is not "), depth


def test_no_object(client):
    assert client.post(b'["a"]').error == (
        'The body is not an object. Expected an object with "instances" or "inputs", '
        f'received ["a"]. {HINT}'
    )


# What is no request -------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked, received",
    [
        ({}, "neither in {}"),
        ({"examples": ["a"]}, 'neither in {"examples": ["a"]}'),
        ({"inputs": [], "instances": []}, "instances and inputs"),
    ],
)
def test_not_one_format(client, asked, received):
    assert client.refused(**asked) == (
        'Send exactly one of "instances" and "inputs". Expected an object with '
        f'"instances", a list, or with "inputs", received {received}. {HINT}'
    )


@pytest.mark.parametrize("name", ["Score", 7, None, ["score"], "__saved_model_init_op"])
def test_unknown_signature(client, name):
    assert client.refused(signature_name=name, instances=["a"]) == (
        "The model does not have this signature. Expected one of "
        f"{SIGNATURES}, received {json.dumps(name or 'serving_default')}. Check "
        '"signature_name".'
    )


@pytest.mark.parametrize("instances", [[], "abc", {}, None, 3])
def test_no_instances(client, instances):
    assert client.refused(instances=instances) == (
        '"instances" is not a list with values. Expected a list of one or more '
        f"instances, received {json.dumps(instances)}. Put a single text into a list."
    )


@pytest.mark.parametrize(
    "instance, received",
    [
        ({"words": "a"}, '["words"]'),
        ({}, "[]"),
        ({"text": "a", "n": 1}, '["n", "text"]'),
    ],
)
def test_wrong_names(client, instance, received):
    expected = (
        "must have exactly the names of the signature's inputs. Expected an object "
        "with text, received "
        f"{received}. See GET .../metadata for the signatures."
    )
    assert client.refused(instances=[instance]) == f"An instance {expected}"
    assert client.refused(inputs=instance) == f'"inputs" {expected}'


def test_names_are_needed_for_two_inputs(client):
    expected = (
        "An instance must have exactly the names of the signature's inputs. Expected "
        'an object with source, target, received "a". See GET .../metadata for the '
        "signatures."
    )
    score = {"signature_name": "score"}
    assert client.refused(instances=["a"], **score) == expected
    pair = {"source": "a", "target": "b"}
    assert client.refused(instances=[pair, "a"], **score) == expected


@pytest.mark.parametrize(
    "asked, received",
    [
        ({"inputs": "a"}, '[] from "a"'),
        ({"inputs": [["a"]]}, '[1, 1] from [["a"]]'),
        ({"instances": [["a", "b"], ["c"]]}, '[2, 2] from [["a", "b"], ["c"]]'),
        ({"inputs": {"text": None}}, "[] from null"),
        ({"inputs": {"b64": "YQ=="}}, '[] from {"b64": "YQ=="}'),
    ],
)
def test_wrong_shape(client, asked, received):
    assert client.refused(**asked) == (
        f"Input 'text' has the wrong shape. Expected [any], received {received}. Nest "
        'lists as GET .../metadata says. In "instances" send texts; in "inputs" send '
        "lists of texts."
    )


@pytest.mark.parametrize("leaf", [1, 0.5, True, None, ["a"], {"b64": 1}, {"a": 1}])
def test_wrong_type(client, leaf):
    assert client.refused(inputs=["a", leaf]) == (
        "Input 'text' has a value of the wrong type. Expected a string or "
        f'{{"b64": ...}}, received {json.dumps(leaf)}. See GET .../metadata for the '
        "types."
    )


@pytest.mark.parametrize("b64", ["YQ", "Y Q==", "ä"])
def test_not_base64(client, b64):
    assert client.refused(instances=[{"b64": b64}]) == (
        'Input \'text\' has a value that is not base64. Expected {"b64": "..."} '
        "with A-Z, a-z, 0-9, +, / and = at the end, received "
        f"{json.dumps({'b64': b64})}. Encode the bytes again, or send text as a plain "
        "string."
    )


def test_half_a_character(client):
    assert client.post(b'{"instances": ["\\ud800"]}').error == (
        "Input 'text' has an unpaired surrogate. Expected text whose surrogates come "
        'in pairs, received "\\ud800". Escape a character above U+FFFF as two '
        "surrogates."
    )


def test_inputs_of_different_lengths(client):
    inputs = {"source": ["a"], "target": ["a", "b"]}
    assert client.refused(signature_name="score", inputs=inputs) == (
        "The inputs have different numbers of rows. Expected one row for each instance "
        "in all of them, received 1 in source, 2 in target. Send the same number of "
        "values for each input."
    )


# Too much -----------------------------------------------------------------------------


@pytest.mark.parametrize("text, size", [("é" * 301, 301), ("a" * 100_000, 100_000)])
def test_long_text(client, text, size):
    for instance in (text, {"text": text}):
        assert client.refused(instances=[instance], status=413) == (
            "Input 'text' has a text that is too long. Expected at most 300 "
            f"characters, received {size}. Split it, or start the server with a larger "
            "--max-text."
        )


def test_many_instances(client):
    assert client.ask(instances=["a"] * 64)
    assert client.refused(instances=["a"] * 65, status=413) == (
        "The request has too many instances. Expected at most 64, received 65. Send "
        "several requests, or start the server with a larger --batch."
    )


@pytest.mark.parametrize("how", ["plain", "in chunks"])
def test_large_body(client, how):
    body = b'{"instances": ["' + b"a" * 3_000_000 + b'"]}'
    reply = client.post(iter([body[:500_000]] * 6) if how == "in chunks" else body)
    assert reply.status == 413
    assert reply.headers["Connection"] == "close"
    assert reply.error == (
        "The body is too large. Expected at most 1000000 bytes, received more. Send "
        "several requests, or start the server with a larger --max-body."
    )


# What is not even a request to the model ----------------------------------------------


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity, GZIP"])
def test_encoded(client, encoding):
    """Whatever it holds: it is not read."""
    body = gzip.compress(b'{"instances": ["' + b"a" * 300_000_000 + b'"]}')
    start = time.monotonic()
    reply = client.post(body, headers={"Content-Encoding": encoding})
    assert reply.status == 415 and time.monotonic() - start < 10
    assert reply.headers["Connection"] == "close"
    assert reply.error == (
        "The body is encoded. Expected no header Content-Encoding, received "
        f"{encoding!r}. Send the JSON without compression."
    )


def test_identity_is_no_encoding(client):
    headers = {"Content-Encoding": "identity"}
    assert client.post(b'{"instances": ["abc"]}', headers=headers).status == 200


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""]
)
def test_wrong_content_type(client, kind):
    reply = client.post(b'{"instances": ["abc"]}', headers={"Content-Type": kind})
    assert reply.status == 415
    assert reply.error == (
        "The body has the wrong type. Expected the header Content-Type: "
        f"application/json, received {kind!r}. Add it; with curl: -H 'Content-Type: "
        "application/json'."
    )


def test_no_content_type(client):
    reply = client.request("POST", client.path(), b'{"instances": ["abc"]}')
    assert reply.status == 415 and "received 'none'. Add it" in reply.error


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "Application/JSON"]
)
def test_content_type(client, kind):
    reply = client.post(b'{"instances": ["abc"]}', headers={"Content-Type": kind})
    assert reply.status == 200


@pytest.mark.parametrize(
    "path", ["/", "/v1/models", "/v1/models/m:classify", "/%0d%0a"]
)
def test_unknown_path(client, path):
    reply = client.request("POST", path, b"{}")
    assert reply.status == 404
    assert reply.error == (
        "The server does not know this path. Expected /v1/models/NAME:predict or "
        f"another path of TensorFlow Serving's REST API, received {path!r}. Check the "
        "URL."
    )


@pytest.mark.parametrize("method, allowed", [("GET", "POST"), ("DELETE", "POST")])
def test_wrong_method(client, method, allowed):
    reply = client.request(method, "/v1/models/m:predict")
    assert (reply.status, reply.headers["Allow"]) == (405, allowed)
    assert reply.error == (
        f"The path does not support this method. Expected POST, received {method}. Use "
        "POST for :predict, and GET for all other paths."
    )


@pytest.mark.parametrize(
    "path, name, version", [("n", "n", 2), ("m/versions/3", "m", 3)]
)
def test_unknown_model(client, path, name, version):
    for end in ("", "/metadata"):
        reply = client.request("GET", f"/v1/models/{path}{end}")
        assert reply.status == 404
        assert reply.error == (
            "The server does not have this model. Expected 'm', version 1 or 2, "
            f"received {name!r}, version {version}. Check the URL."
        )


@pytest.mark.parametrize("digits", [19, 5_000])
def test_a_version_of_many_digits(client, digits):
    """Python refuses to read 4301 of them."""
    reply = client.request("GET", f"/v1/models/m/versions/{'1' * digits}")
    assert reply.status == 404
    assert reply.error.startswith("The server does not know this path. Expected ")


def test_no_http(client, process):
    with socket.create_connection(("127.0.0.1", client.port), 60) as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        answer = connection.recv(10_000)
    assert answer.startswith(b"HTTP/1.") and b" 400 " in answer
    assert b"Traceback" not in answer and b".py" not in answer


# What fails inside --------------------------------------------------------------------


def test_inputs_that_the_model_refuses(client, process):
    said = client.refused(1, signature_name="picky", instances=["good", "bad"])
    assert said == (
        "The model cannot use these inputs. Expected inputs that the signature picky "
        "can use, received an error while computing. Check them; the server's log has "
        "the details."
    )
    process.wait_for("picky cannot use its inputs\n(?s:.*)a secret")


def test_a_model_that_fails(client, process):
    said = client.refused(
        1, signature_name="read", instances=["/no/such/file"], status=500
    )
    assert said == (
        "The server has failed. Expected an answer, received an error while computing. "
        "Tell the operator of the server: the log has the details."
    )
    process.wait_for("a request failed\n(?s:.*)No such file")
