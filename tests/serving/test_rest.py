"""TensorFlow Serving's REST format, asked of a real server."""

import base64
import json

import numpy as np
import pytest

from tests.serving.client import METRICS

pytestmark = pytest.mark.system
TEXTS = ["abc", "é ü", "", "  ", "HAGEBAF 0123"]


@pytest.fixture(scope="module")
def signatures(served):
    """What TensorFlow says of the same folder, without a server."""
    import tensorflow as tf

    loaded = tf.saved_model.load(served / "2")
    yield loaded.signatures


# Texts --------------------------------------------------------------------------------


def test_rows(client, signatures):
    expected = signatures["serving_default"](text=texts(TEXTS))
    answer = client.ask(instances=TEXTS)
    assert list(answer) == ["predictions"]
    rows = answer["predictions"]
    assert [set(row) for row in rows] == [{"text", "score"}] * len(TEXTS)
    assert [row["text"].encode() for row in rows] == list(expected["text"].numpy())
    assert np.allclose([row["score"] for row in rows], expected["score"], rtol=1e-5)
    assert rows[0]["text"] and [row["text"] for row in rows[2:4]] == ["", ""]


def test_columns(client):
    rows = client.ask(instances=TEXTS)["predictions"]
    for inputs in (TEXTS, {"text": TEXTS}):
        answer = client.ask(inputs=inputs)
        assert list(answer) == ["outputs"]
        text, score = (answer["outputs"][name] for name in ("text", "score"))
        assert text == [row["text"] for row in rows]
        assert score == pytest.approx([row["score"] for row in rows], rel=1e-5)


def test_ways_to_say_the_same(client):
    [expected] = client.ask(instances=["é b"])["predictions"]
    b64 = {"b64": base64.b64encode("é b".encode()).decode()}
    for instance in ({"text": "é b"}, b64, {"text": b64}):
        assert client.ask(instances=[instance])["predictions"] == [expected]
    asked = {"instances": ["é b"]}
    for name in ("serving_default", ""):
        assert client.ask(signature_name=name, **asked)["predictions"] == [expected]
    assert client.ask(2, **asked)["predictions"] == [expected]
    escaped = json.dumps(asked).encode()
    utf8 = json.dumps(asked, ensure_ascii=False).encode()
    for body in (escaped, utf8, b"\xef\xbb\xbf" + utf8, b" \n" + utf8):
        assert client.post(body).json["predictions"] == [expected]


@pytest.mark.parametrize("name", ["translate_with_attention", "nbest", "encode"])
def test_signatures(client, signatures, name):
    expected = signatures[name](text=texts(TEXTS))
    outputs = client.ask(signature_name=name, inputs=TEXTS)["outputs"]
    check(outputs, expected)
    rows = client.ask(signature_name=name, instances=TEXTS)["predictions"]
    assert {field: [row[field] for row in rows] for field in rows[0]} == outputs


def test_two_inputs(client, signatures):
    pairs = [{"source": a, "target": b} for a, b in zip(TEXTS, TEXTS[1:], strict=False)]
    columns = {name: [pair[name] for pair in pairs] for name in ("source", "target")}
    expected = signatures["score"](**{k: texts(v) for k, v in columns.items()})
    outputs = client.ask(signature_name="score", inputs=columns)["outputs"]
    check(outputs, expected)
    rows = client.ask(signature_name="score", instances=pairs)["predictions"]
    assert {field: [row[field] for row in rows] for field in rows[0]} == outputs


def test_no_rows_in_columns(client):
    assert client.ask(inputs=[])["outputs"] == {"text": [], "score": []}


def texts(strings):
    import tensorflow as tf

    return tf.constant(strings, tf.string)


def check(outputs, expected):
    """JSON against tensors."""
    assert set(outputs) == set(expected)
    for name, tensor in expected.items():
        array, found = tensor.numpy(), np.array(outputs[name])
        assert found.shape == array.shape
        if array.dtype == object:
            assert [x.encode() for x in found.ravel()] == list(array.ravel())
        else:
            assert np.allclose(found, array, rtol=1e-5, atol=1e-6)


# What a translator does not have ------------------------------------------------------


def test_one_output_has_no_name(client):
    """As in the documentation of TensorFlow Serving: half plus nothing."""
    assert client.ask(1, instances=[1.0, 2, 5e0]) == {"predictions": [0.5, 1.0, 2.5]}
    assert client.ask(1, inputs=[1.0]) == {"outputs": [0.5]}
    assert client.ask(1, inputs={"x": [0.2]}) == {"outputs": [0.1]}  # float32's 0.1


def test_all_types(client):
    binary = base64.b64encode(b"\xff\0").decode()
    rows = [
        {"flag": True, "count": -128, "pair": [0.5, 1e300], "name": "ä\0"},
        {"flag": False, "count": 127, "pair": [0, -1], "name": {"b64": binary}},
    ]
    [first, second] = client.ask(1, signature_name="echo", instances=rows)[
        "predictions"
    ]
    encoded = base64.b64encode("ä\0".encode()).decode()
    assert first == {**rows[0], "name_bytes": {"b64": encoded}}
    assert second == {**rows[1], "name": "\ufffd\0", "name_bytes": {"b64": binary}}


def test_no_nan(client):
    answer = client.ask(1, signature_name="logarithm", instances=[1.0, 0, -1])
    assert answer == {"predictions": [0.0, None, None]}


def test_inputs_without_rows(client):
    repeat = {"signature_name": "repeat"}
    inputs = {"text": ["a", "b"], "times": 2}
    assert client.ask(1, inputs=inputs, **repeat)["outputs"] == ["a", "a", "b", "b"]
    said = client.refused(1, instances=[{"text": "a", "times": 2}], **repeat)
    assert said == (
        "Input 'times' has the wrong shape. Expected [], received [1] from [2]. Nest "
        'lists as GET .../metadata says. In "instances" send texts; in "inputs" send '
        "lists of texts."
    )


def test_outputs_without_rows(client):
    total = {"signature_name": "total"}
    assert client.ask(1, inputs=[1, 2], **total) == {"outputs": 3.0}
    assert client.refused(1, instances=[1, 2], **total) == (
        '"instances" does not work with this signature. Expected a signature whose '
        "outputs have one row for each instance, received 'total', whose outputs have "
        'not. Send "inputs"; the answer then has "outputs".'
    )


# About the model ----------------------------------------------------------------------


def test_status(client):
    fine = {"state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    expected = [{"version": "2", **fine}, {"version": "1", **fine}]
    assert client.get().json == {"model_version_status": expected}
    assert client.get("/versions/1").json == {"model_version_status": expected[1:]}


def test_metadata(client):
    found = client.get("/metadata").json
    assert found == client.get("/versions/2/metadata").json
    assert found["model_spec"] == {"name": "m", "signature_name": "", "version": "2"}
    signature = found["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["method_name"] == "tensorflow/serving/predict"
    assert signature["inputs"]["text"] == {
        "dtype": "DT_STRING",
        "name": "serving_default_text:0",
        "tensor_shape": {"dim": [{"name": "", "size": "-1"}], "unknown_rank": False},
    }
    assert sorted(signature["outputs"]) == ["score", "text"]


def test_metadata_is_what_tensorflow_serving_sends(client):
    """It parses as the message that both are made of."""
    from google.protobuf.json_format import ParseDict
    from tensorflow.core.protobuf import meta_graph_pb2

    found = client.get("/versions/1/metadata").json["metadata"]["signature_def"]
    for definition in found["signature_def"].values():
        ParseDict(definition, meta_graph_pb2.SignatureDef())


def test_health(client):
    assert client.request("GET", "/healthz").json == {"status": "ok"}


def test_metrics(client):
    def count(code, endpoint):
        return client.metrics().get(("seqattn_requests_total", (code, endpoint)), 0)

    before = count("200", "predict"), count("400", "predict"), count("404", "unknown")
    client.ask(instances=["a"])
    client.refused(instances=[])
    client.request("GET", "/what/ever")
    after = count("200", "predict"), count("400", "predict"), count("404", "unknown")
    assert [b - a for a, b in zip(before, after, strict=True)] == [1, 1, 1]
    found = client.metrics()
    assert found["seqattn_request_seconds_count", ("predict",)] > 0
    assert found["seqattn_batch_rows_sum", ("serving_default",)] > 0
    assert found["seqattn_waiting_rows", ("short",)] == 0
    head = client.request("GET", METRICS).headers
    assert head["Content-Type"].startswith("text/plain; version=")


def test_a_line_for_each_request(client, process):
    client.request("GET", "/nothing%0Ahere?x")
    process.wait_for(r"INFO GET /nothing%0Ahere 404, \d+\.\d ms\n")
