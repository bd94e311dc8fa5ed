"""The signatures of a SavedModel."""

import tensorflow as tf

from keras_seqattn.decoding.model_checks import can_score
from keras_seqattn.errors import four_parts

_TEXT, _SOURCE, _TARGET = (
    tf.TensorSpec([None], tf.string, name=name) for name in ("text", "source", "target")
)


def signatures(pipeline, weights):
    """Return `tf.function`s by name, from strings `[batch]` to dicts of dense tensors.

    Args:
        pipeline: `Pipeline`.
        weights: `StoredWeights` of the pipeline's model.
    """

    def answer(call, *texts):
        with weights.read():
            return _fields(call, *texts)

    @_function(_TEXT)
    def translate_with_attention(text):
        return answer(pipeline, text)

    @_function(_TEXT)
    def translate(text):
        best = translate_with_attention(text)
        return {"text": best["texts"][:, 0], "score": best["scores"][:, 0]}

    @_function(_TEXT)
    def n_best(text):
        if pipeline.full_search != pipeline.search:
            return answer(pipeline.n_best, text)
        full = translate_with_attention(text)  # shares its graph
        fields = {name: full[name] for name in ("texts", "scores", "ranking")}
        return {**fields, "lengths": full["target_lengths"]}

    @_function(_SOURCE, _TARGET)
    def score(source, target):
        _check_pairs(source, target)
        return answer(pipeline.score, source, target)

    @_function(_TEXT)
    def encode(text):
        return _fields(pipeline.encode, text)

    functions = {
        "serving_default": translate,
        "translate_with_attention": translate_with_attention,
        "nbest": n_best,
        "encode": encode,
    }
    # A user's model may support only the search, step by step.
    return {**functions, "score": score} if can_score(pipeline.model) else functions


def _function(*specs):
    return lambda f: tf.function(f, input_signature=specs, autograph=False)


def _fields(call, *texts):
    """Return the fields of an answer. An empty batch gets an answer, too."""
    count = tf.shape(texts[0])[0]
    # The pipeline needs one row at least; an empty batch gets one for a moment.
    extra = tf.fill([tf.cast(count == 0, tf.int32)], "")
    answer = call(*(tf.concat([text, extra], axis=0) for text in texts))
    return {name: value[:count] for name, value in answer._asdict().items()}


def _check_pairs(source, target):
    sizes = tf.shape(source)[0], tf.shape(target)[0]
    tf.debugging.assert_equal(
        *sizes,
        four_parts(
            "score got sources and targets of different batch sizes",
            "one target for every source",
            "the sizes below",
            "Pass as many targets as sources",
        ),
    )
