"""The translator in one LiteRT file: strings in, strings out, on a device."""

import keras
import tensorflow as tf

from keras_seqattn.decoding.loop import decode
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.export.litert_checks import (
    check_content,
    check_pipeline,
    check_sizes,
    lacking,
)
from keras_seqattn.export.litert_text import pieces, reader, writer
from keras_seqattn.export.portable import without_cudnn
from keras_seqattn.files import replacing


def export_litert(
    pipeline, path, source_length, target_length, batch=1, weights="float32"
):
    """Writes a file that needs LiteRT and tensorflow-text's operations, nothing else.

    No Flex delegate: the model and its search are LiteRT's own operations, and the
    texts are read and written with some of `tensorflow_text.tflite_registrar`. All
    shapes are static. There is one signature, from `text`, strings `[batch]`, to the
    fields of `Translated`, without the bytes of the source (`source_starts`,
    `source_ends`). `litert_function` runs it in Python.

    Sources are read by `Characters`, `Words`, `WordPiece` or a unigram `SentencePiece`,
    without Unicode normalisation. NUL is read as U+FFFD where it is no white space, and
    not at all at the end of a text.

    Args:
        pipeline: `Pipeline`, with `Greedy` or `BeamSearch`.
        path: of the file; an older one is replaced.
        source_length: tokens of a source that are read, the end token included; what is
            behind them is lost, and `source_cut` says so.
        target_length: greatest length of a translation, the end token included; the
            `max_length` of the pipeline holds, too.
        batch: number of texts.
        weights: "float32"; "float16", half as large; "int8", where LiteRT quantises
            matrices, and what they are multiplied with: smallest, quickest, and the
            tokens may be others.
    """
    check_sizes(source_length=source_length, target_length=target_length, batch=batch)
    check_pipeline(pipeline, weights)
    function = _function(pipeline, source_length, target_length, batch)
    with without_cudnn(pipeline.model):
        content = _converted(function.get_concrete_function(), weights)
    check_content(content, batch)
    with replacing(path) as unfinished:
        unfinished.write_bytes(content)


def _converted(function, weights):
    from tensorflow.lite.python.convert_phase import ConverterError

    converter = tf.lite.TFLiteConverter.from_concrete_functions([function], tf.Module())
    converter.allow_custom_ops = True  # those of tensorflow-text
    if weights != "float32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if weights == "float16":
        converter.target_spec.supported_types = [tf.float16]
    try:
        return converter.convert()
    except ConverterError as error:
        raise lacking(error) from error


def _function(pipeline, source_length, target_length, batch):
    """Strings `[batch]` to the answer; the weights are constants of the graph."""
    model, search = pipeline.model, pipeline.search
    read = reader(pipeline.source_text, min(source_length, pipeline.max_source + 1))
    write = writer(pipeline.target_text)
    limit = _limit(pipeline.max_length, target_length)
    variables = getattr(model, "variables", ())
    values = [(v, keras.ops.convert_to_numpy(v)) for v in variables]
    text = tf.TensorSpec([batch], tf.string, name="text")

    @tf.function(input_signature=[text], autograph=False)
    def translate(text):
        source = read(text)
        with keras.StatelessScope([(v, tf.constant(x)) for v, x in values]):
            found = decode(
                model, source.ids, search, limit, pipeline.source_text.tokens
            )
        alignments = found.alignments
        if len(alignments.shape) == 5:  # heads stand before the target
            alignments = tf.reduce_mean(alignments, axis=2)
        tokens = _longer(found.tokens, target_length)
        written = tf.where(
            source.blank[:, None, None], pipeline.target_text.tokens.pad, tokens
        )
        texts = write(tf.reshape(written, [batch * search.n_best, target_length]))
        return {
            "texts": tf.reshape(texts, [batch, search.n_best]),
            "scores": found.scores,
            "ranking": found.ranking,
            "source_tokens": pieces(pipeline.source_text, source.ids),
            "source_lengths": source.lengths,
            "source_cut": source.cut,
            "target_tokens": pieces(pipeline.target_text, tokens),
            "target_lengths": found.lengths,
            "alignments": _longer(alignments, target_length),
        }

    return translate


def _longer(x, target_length):
    """`[batch, n_best, target, ...]` with zeros (padding has the id 0) at the end."""
    missing = target_length - tf.shape(x)[2]
    paddings = [[0, 0], [0, 0], [0, missing], *[[0, 0]] * (len(x.shape) - 3)]
    return tf.reshape(tf.pad(x, paddings), [*x.shape[:2], target_length, *x.shape[3:]])


def _limit(max_length, target_length):
    if not isinstance(max_length, RelativeLength):
        return min(max_length, target_length)
    bound = max_length.at_most
    bound = target_length if bound is None else min(bound, target_length)
    return _CountedLength(max_length.times, max_length.plus, bound)


class _CountedLength(RelativeLength):
    """LiteRT has no float64: the limits of all lengths are computed beforehand."""

    def limits(self, source, pad):
        length = source.shape[1]
        with tf.init_scope():
            sizes = tf.sequence_mask(tf.range(length + 1), length, tf.int32)
            limits = super().limits(sizes, 0).numpy()
        real = tf.cast(source != pad, tf.int32)
        return tf.gather(limits, tf.reduce_sum(real, axis=1))
