"""The warm-up file, read with TensorFlow Serving's own messages."""

import pytest
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from keras_seqattn.export import warmup


def official(signature, inputs):
    """The same request, made by those who know the messages."""
    log = prediction_log_pb2.PredictionLog()
    request = log.predict_log.request
    request.model_spec.signature_name = signature
    for name, texts in inputs.items():
        request.inputs[name].CopyFrom(tf.make_tensor_proto(texts))
    return log


@pytest.mark.parametrize(
    "inputs",
    [
        {"text": ["a b"]},
        {"text": ["", "été \0", "x" * 300, "y" * 70_000]},
        {"source": ["a", "b"], "target": ["c", "d"]},
    ],
    ids=["one", "long", "two"],
)
def test_what_is_written_is_what_they_read(inputs):
    written = warmup.prediction_log("nbest", inputs)
    log = prediction_log_pb2.PredictionLog.FromString(written)
    assert log == official("nbest", inputs)
    if len(inputs) == 1:  # entries of a map may be in any order
        assert written == log.SerializeToString(deterministic=True)


def test_the_file(tmp_path):
    requests = {"serving_default": {"text": ["a"]}, "encode": {"text": ["b", "c"]}}
    warmup.write_warmup(tmp_path, requests)
    path = tmp_path / "assets.extra/tf_serving_warmup_requests"
    records = tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    read = [prediction_log_pb2.PredictionLog.FromString(r) for r in records]
    assert read == [official(*request) for request in requests.items()]
