"""What a SavedModel is asked, and what it answers."""

import tensorflow as tf

from keras_seqattn.decoding.step_model import can_score

_TEXT, _SOURCE, _TARGET = (
    tf.TensorSpec([None], tf.string, name=name) for name in ("text", "source", "target")
)


def signatures(pipeline, weights):
    """`tf.function`s by name, from strings `[batch]` to dicts of dense tensors.

    Args:
        pipeline: `Pipeline`.
        weights: `StoredWeights` of its model.
    """

    def answer(call, *texts):
        with weights.read():
            return _fields(call, *texts)

    @_function(_TEXT)
    def everything(text):
        return answer(pipeline, text)

    @_function(_TEXT)
    def translate(text):
        best = everything(text)
        return {"text": best["texts"][:, 0], "score": best["scores"][:, 0]}

    @_function(_TEXT)
    def n_best(text):
        if pipeline.full_search != pipeline.search:
            return answer(pipeline.n_best, text)
        found = everything(text)  # one graph less
        fields = {name: found[name] for name in ("texts", "scores", "ranking")}
        return {**fields, "lengths": found["target_lengths"]}

    @_function(_SOURCE, _TARGET)
    def score(source, target):
        _check_pairs(source, target)
        return answer(pipeline.score, source, target)

    @_function(_TEXT)
    def encode(text):
        return _fields(pipeline.encode, text)

    found = {
        "serving_default": translate,
        "translate_with_attention": everything,
        "nbest": n_best,
        "encode": encode,
    }
    # A model of somebody else may be made for searching only.
    return {**found, "score": score} if can_score(pipeline.model) else found


def _function(*specs):
    return lambda f: tf.function(f, input_signature=specs, autograph=False)


def _fields(call, *texts):
    """Those of the answer; there is one to a batch of nothing, too."""
    count = tf.shape(texts[0])[0]
    lent = tf.fill([tf.cast(count == 0, tf.int32)], "")
    found = call(*(tf.concat([text, lent], axis=0) for text in texts))
    return {name: value[:count] for name, value in found._asdict().items()}


def _check_pairs(source, target):
    sizes = tf.shape(source)[0], tf.shape(target)[0]
    tf.debugging.assert_equal(
        *sizes,
        "score got sources and targets of different batches. Expected a target for "
        "every source, received other numbers of them (below). Pass as many.",
    )
