"""Requests that TensorFlow Serving sends to a model before it says that it is ready."""

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
    """Writes the file that TensorFlow Serving looks for in a SavedModel.

    Args:
        folder: of the SavedModel.
        requests: by signature, a dict from its inputs to lists of strings.
    """
    path = os.path.join(folder, FILE)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tf.io.TFRecordWriter(path) as file:
        for signature, inputs in requests.items():
            file.write(prediction_log(signature, inputs))


def requests_for(functions, pipeline, sentences=None):
    """A request for each signature.

    Args:
        functions: concrete functions by the names of their signatures.
        pipeline: `Pipeline`.
        sentences: list of sources; None: one of frequent words. The targets, which
            `score` wants, are of frequent words.
    """
    if not sentences:
        sentences = [_frequent(pipeline.source_text)]
    targets = [_frequent(pipeline.target_text)] * len(sentences)
    given = {"text": sentences, "source": sentences, "target": targets}
    return {
        name: {spec.name: given[spec.name] for spec in f.structured_input_signature[0]}
        for name, f in functions.items()
    }


def prediction_log(signature, inputs):
    """The bytes of a `PredictionLog` with one request.

    Written by hand: the package with the messages would be needed for nothing else.
    """
    request = _field(_MODEL_SPEC, _field(_SIGNATURE_NAME, signature.encode()))
    for name, texts in inputs.items():
        texts = strings_of(list(texts)).numpy()
        tensor = tf.make_tensor_proto(texts, tf.string).SerializeToString()
        entry = _field(_KEY, name.encode()) + _field(_VALUE, tensor)
        request += _field(_INPUTS, entry)
    return _field(_PREDICT_LOG, _field(_REQUEST, request))


def _field(number, content):
    """A field of bytes: its number and kind, how long it is, the bytes."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value):
    """Seven bits in each byte, the lowest first; the eighth says that more follow."""
    done = bytearray()
    while value > 127:
        done.append(value & 127 | 128)
        value >>= 7
    return bytes([*done, value])


def _frequent(text):
    """The first few tokens of a vocabulary as a text; the special ones are not."""
    ids = range(len(text.tokens), min(len(text.tokens) + 8, text.vocabulary_size))
    return text.decode(tf.constant(list(ids), tf.int32)).numpy().decode()
