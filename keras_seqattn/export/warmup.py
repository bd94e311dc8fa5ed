"""Warm-up requests, which TensorFlow Serving computes before a model gets ready."""

import os

import tensorflow as tf

from keras_seqattn.text.checks import strings_of

FILE = "assets.extra/tf_serving_warmup_requests"

# Numbers of the fields in TensorFlow Serving's messages.
_PREDICT_LOG, _REQUEST = 6, 1  # of PredictionLog, of PredictLog
_MODEL_SPEC, _INPUTS = 1, 2  # of PredictRequest
_SIGNATURE_NAME = 3  # of ModelSpec
_KEY, _VALUE = 1, 2  # of an entry of a map


def write_warmup(folder, requests):
    """Write the file of requests that TensorFlow Serving expects in a SavedModel.

    Args:
        folder: folder of the SavedModel.
        requests: dict from signatures to dicts from inputs to lists of strings.
    """
    path = os.path.join(folder, FILE)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tf.io.TFRecordWriter(path) as file:
        for signature, inputs in requests.items():
            file.write(prediction_log(signature, inputs))


def requests_for(functions, pipeline, sentences=None):
    """Return a request for each signature.

    Args:
        functions: concrete functions by the names of their signatures.
        pipeline: `Pipeline`.
        sentences: list of sources. None: one source of frequent words. `score` also
            gets targets, of frequent words.
    """
    if not sentences:
        sentences = [_frequent(pipeline.source_text)]
    targets = [_frequent(pipeline.target_text)] * len(sentences)
    values = {"text": sentences, "source": sentences, "target": targets}
    return {
        name: {spec.name: values[spec.name] for spec in f.structured_input_signature[0]}
        for name, f in functions.items()
    }


def prediction_log(signature, inputs):
    """Return the bytes of a `PredictionLog` with one request.

    The message is encoded by hand, because its package is needed for nothing else.
    """
    request = _field(_MODEL_SPEC, _field(_SIGNATURE_NAME, signature.encode()))
    for name, texts in inputs.items():
        texts = strings_of(list(texts)).numpy()
        tensor = tf.make_tensor_proto(texts, tf.string).SerializeToString()
        entry = _field(_KEY, name.encode()) + _field(_VALUE, tensor)
        request += _field(_INPUTS, entry)
    return _field(_PREDICT_LOG, _field(_REQUEST, request))


def _field(number, content):
    """Return a field of bytes: its number and wire type, its length, the bytes."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value):
    """Return a varint: seven bits in a byte, lowest first; bit eight: more follow."""
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def _frequent(text):
    """Return the first tokens of a vocabulary, without special ones, as a text."""
    first = range(min(len(text.tokens) + 8, text.vocabulary_size))
    ids = [i for i in first if i not in text.tokens][:8]
    return text.decode(tf.constant(ids, tf.int32)).numpy().decode()
