"""`export_litert`: a translator as a LiteRT file from strings to strings."""

import keras
import tensorflow as tf

from keras_seqattn.decoding.decoded import with_empty_translations
from keras_seqattn.decoding.loop import decode
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.export.cudnn import without_cudnn
from keras_seqattn.export.litert_checks import (
    check_content,
    check_pipeline,
    check_sizes,
    unsupported,
)
from keras_seqattn.export.litert_text import pieces, reader, writer
from keras_seqattn.files import replacing


def export_litert(
    pipeline, path, source_length, target_length, batch=1, weights="float32"
):
    """Write a file that needs only LiteRT and the operations of tensorflow-text.

    It needs no Flex delegate: the model and the search use LiteRT's own operations, and
    texts are encoded and decoded with operations of `tensorflow_text.tflite_registrar`.
    All shapes are static. The file has one signature, from `text`, strings `[batch]`,
    to the fields of `Translated` without the byte offsets of source tokens
    (`source_starts`, `source_ends`). `litert_function` runs it in Python. LiteRT has no
    infinite constants: the least float32 stands for a score of -inf.

    The source text must be `Characters`, `Words`, `WordPiece` or a unigram
    `SentencePiece`, without Unicode normalisation. NUL characters at the end of a text
    are ignored; others become U+FFFD unless they are white space of the processor.

    Args:
        pipeline: `Pipeline`, with `Greedy` or `BeamSearch`.
        path: path of the file; an older file is replaced.
        source_length: number of source tokens that are read, with the end token. Longer
            sources are cut, and `source_cut` is True for them.
        target_length: greatest length of a translation, with the end token. The
            `max_length` of the pipeline holds, too.
        batch: number of texts in each call.
        weights: "float32"; "float16", half as large; or "int8", the smallest and
            fastest: LiteRT quantises matrices and the inputs of their products, so
            translations may differ.
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
    converter.allow_custom_ops = True  # for the operations of tensorflow-text
    if weights != "float32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if weights == "float16":
        converter.target_spec.supported_types = [tf.float16]
    try:
        return converter.convert()
    except ConverterError as error:
        raise unsupported(error) from error


def _function(pipeline, source_length, target_length, batch):
    """Return a `tf.function` from strings `[batch]`, with weights as constants."""
    model, search = pipeline.model, pipeline.search
    read = reader(pipeline.source_text, min(source_length, pipeline.max_source + 1))
    write = writer(pipeline.target_text)
    limit = _limit(pipeline.max_length, target_length)
    variables = getattr(model, "variables", ())
    values = [(v, keras.ops.convert_to_numpy(v)) for v in variables]
    text = tf.TensorSpec([batch], tf.string, name="text")
    special = pipeline.target_text.tokens

    @tf.function(input_signature=[text], autograph=False)
    def translate(text):
        source = read(text)
        with keras.StatelessScope([(v, tf.constant(x)) for v, x in values]):
            decoded = decode(model, source.ids, search, limit, special)
        decoded = with_empty_translations(
            decoded, source.blank, source.lengths, special
        )
        alignments = decoded.alignments
        if len(alignments.shape) == 5:  # heads stand before the target
            alignments = tf.reduce_mean(alignments, axis=2)
        tokens = _pad_target(decoded.tokens, target_length, special.pad)
        texts = write(tf.reshape(tokens, [batch * search.n_best, target_length]))
        return {
            "texts": tf.reshape(texts, [batch, search.n_best]),
            "scores": decoded.scores,
            "ranking": decoded.ranking,
            "source_tokens": pieces(pipeline.source_text, source.ids),
            "source_lengths": source.lengths,
            "source_cut": source.cut,
            "target_tokens": pieces(pipeline.target_text, tokens),
            "target_lengths": decoded.lengths,
            "alignments": _pad_target(alignments, target_length),
        }

    return translate


def _pad_target(x, target_length, value=0):
    """Pad `[batch, n_best, target, ...]` with a value, up to the target length."""
    missing = target_length - tf.shape(x)[2]
    paddings = [[0, 0], [0, 0], [0, missing], *[[0, 0]] * (len(x.shape) - 3)]
    x = tf.pad(x, paddings, constant_values=value)
    return tf.reshape(x, [*x.shape[:2], target_length, *x.shape[3:]])


def _limit(max_length, target_length):
    if not isinstance(max_length, RelativeLength):
        return min(max_length, target_length)
    bound = max_length.at_most
    bound = target_length if bound is None else min(bound, target_length)
    return _TabulatedLength(max_length.times, max_length.plus, bound)


class _TabulatedLength(RelativeLength):
    """A `RelativeLength` without float64: a table has the limits of all lengths."""

    def limits(self, source, pad):
        length = source.shape[1]
        with tf.init_scope():
            sizes = tf.sequence_mask(tf.range(length + 1), length, tf.int32)
            limits = super().limits(sizes, 0).numpy()
        real = tf.cast(source != pad, tf.int32)
        return tf.gather(limits, tf.reduce_sum(real, axis=1))
