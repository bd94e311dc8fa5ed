"""TensorFlow Serving's REST format, asked of a real server."""

import base64
import json

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf.json_format import ParseDict
from tensorflow.core.protobuf import meta_graph_pb2

from tests.raised import check_message
from tests.serving.client import METRICS

pytestmark = pytest.mark.system
TEXTS = ["abc", "é ü", "", "  ", "HAGEBAF 0123"]


@pytest.fixture(scope="module")
def signatures(served):
    """The functions of the same folder, without a server."""
    loaded = tf.saved_model.load(served / "2")  # owns the variables
    yield loaded.signatures


def test_rows_and_columns_and_ways_to_say_the_same(client, signatures):
    expected = signatures["serving_default"](text=tf.constant(TEXTS))
    answer = client.ask(instances=TEXTS)
    assert list(answer) == ["predictions"]
    rows = answer["predictions"]
    assert rows[0]["text"] and [row["text"] for row in rows[2:4]] == ["", ""]
    for inputs in (TEXTS, {"text": TEXTS}):
        answer = client.ask(inputs=inputs)
        assert answer == {"outputs": by_name(rows)}
        check(answer["outputs"], expected)
    [expected] = client.ask(instances=["é b"])["predictions"]
    b64 = {"b64": base64.b64encode("é b".encode()).decode()}
    for instance in ({"text": "é b"}, b64, {"text": b64}):
        assert client.ask(instances=[instance])["predictions"] == [expected]
    asked = {"instances": ["é b"]}
    for name in ("serving_default", ""):
        assert client.ask(2, signature_name=name, **asked)["predictions"] == [expected]
    utf8 = json.dumps(asked, ensure_ascii=False).encode()
    for body in (utf8, b"\xef\xbb\xbf" + utf8, b" \n" + utf8):
        assert client.post(body).json["predictions"] == [expected]


PAIRS = {"source": TEXTS[:-1], "target": TEXTS[1:]}
ALONE = [{"source": a, "target": b} for a, b in zip(*PAIRS.values(), strict=True)]
NAMES = "translate_with_attention", "nbest", "encode"


@pytest.mark.parametrize(
    "name, columns, rows",
    [*((name, {"text": TEXTS}, TEXTS) for name in NAMES), ("score", PAIRS, ALONE)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_signatures(client, signatures, name, columns, rows):
    expected = signatures[name](**{k: tf.constant(v) for k, v in columns.items()})
    outputs = client.ask(signature_name=name, inputs=columns)["outputs"]
    check(outputs, expected)
    found = client.ask(signature_name=name, instances=rows)["predictions"]
    assert by_name(found) == outputs


def test_no_rows_in_columns(client):
    assert client.ask(inputs=[])["outputs"] == {"text": [], "score": []}


def by_name(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def check(outputs, expected):
    assert set(outputs) == set(expected)
    for name, values in expected.items():
        array, found = np.array(values), np.array(outputs[name])
        assert found.shape == array.shape
        if array.dtype.kind in "OU":
            said = [x if isinstance(x, bytes) else x.encode() for x in array.ravel()]
            assert [x.encode() for x in found.ravel()] == said
        else:
            assert np.allclose(found, array, rtol=1e-5, atol=1e-6)


def test_one_output_has_no_name_others_have_all_types_and_no_nan(client):
    assert client.ask(1, instances=[1.0, 2, 5e0]) == {"predictions": [0.5, 1.0, 2.5]}
    assert client.ask(1, inputs=[1.0]) == {"outputs": [0.5]}
    assert client.ask(1, inputs={"x": [0.2]}) == {"outputs": [0.1]}  # float32's 0.1
    binary = base64.b64encode(b"\xff\0").decode()
    rows = [
        {"flag": True, "count": -128, "pair": [0.5, 1e300], "name": "ä\0"},
        {"flag": False, "count": 127, "pair": [0, -1], "name": {"b64": binary}},
    ]
    answer = client.ask(1, signature_name="echo", instances=rows)
    [first, second] = answer["predictions"]
    encoded = base64.b64encode("ä\0".encode()).decode()
    assert first == {**rows[0], "name_bytes": {"b64": encoded}}
    assert second == {**rows[1], "name": "\ufffd\0", "name_bytes": {"b64": binary}}
    answer = client.ask(1, signature_name="logarithm", instances=[1.0, 0, -1])
    assert answer == {"predictions": [0.0, None, None]}


def test_inputs_and_outputs_without_rows(client):
    asked = {"signature_name": "repeat", "inputs": {"text": ["a", "b"], "times": 2}}
    assert client.ask(1, **asked)["outputs"] == ["a", "a", "b", "b"]
    instance = {"text": "a", "times": 2}
    said = client.refused(1, signature_name="repeat", instances=[instance])
    what = "Input 'times' has the wrong shape. Expected [], received [1] from [2]"
    check_message(said, what, 'In "instances" send texts; in "inputs" send lists of t')
    total = {"signature_name": "total"}
    assert client.ask(1, inputs=[1, 2], **total) == {"outputs": 3.0}
    what = '"instances" does not work with this signature. Expected a signature whose '
    rest = "received 'total', whose outputs have not. Send \"inputs\"; the answer then"
    check_message(client.refused(1, instances=[1, 2], **total), what, rest)


def test_status_and_metadata(client):
    fine = {"state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    expected = [{"version": "2", **fine}, {"version": "1", **fine}]
    assert client.get().json == {"model_version_status": expected}
    assert client.get("/versions/1").json == {"model_version_status": expected[1:]}
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
    other = client.get("/versions/1/metadata").json["metadata"]["signature_def"]
    for definition in other["signature_def"].values():  # TensorFlow Serving's message
        ParseDict(definition, meta_graph_pb2.SignatureDef())


def test_metrics_and_a_line_for_each_request(client, process):
    def count(code, endpoint):
        return client.metrics().get(("seqattn_requests_total", (code, endpoint)), 0)

    counted = [("200", "predict"), ("400", "predict"), ("404", "unknown")]
    before = [count(*labels) for labels in counted]
    client.ask(instances=["a"])
    client.refused(instances=[])
    client.request("GET", "/what/ever")
    assert [count(*labels) for labels in counted] == [n + 1 for n in before]
    found = client.metrics()
    assert found["seqattn_request_seconds_count", ("predict",)] > 0
    assert found["seqattn_batch_rows_sum", ("serving_default",)] > 0
    assert found["seqattn_waiting_rows", ("short",)] == 0
    kind = client.request("GET", METRICS).headers["Content-Type"]
    assert kind.startswith("text/plain; version=")
    client.request("GET", "/nothing%0Ahere?x")
    process.wait_for(r"INFO GET /nothing%0Ahere 404, \d+\.\d ms\n")
