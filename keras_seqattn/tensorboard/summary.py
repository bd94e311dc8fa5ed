"""The summary op for custom training loops."""

import numpy as np
import tensorflow as tf

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.pictures.picture import hypothesis, picture
from keras_seqattn.pictures.token_places import in_text, joined
from keras_seqattn.tensorboard import record


@tf.autograph.experimental.do_not_convert
def attention(
    name,
    alignment,
    source_tokens,
    target_tokens,
    source_text=None,
    target_text=None,
    heads=None,
    step=None,
    description=None,
):
    """Writes the alignment of one sentence, for the tab "Attention" of TensorBoard.

    It works like `tf.summary.scalar`: without a default writer, or if
    `tf.summary.record_if` forbids it, it does nothing. It runs in a `tf.function`, but
    not under XLA. The source of a tag must stay the same at all steps.

    Args:
        name: name of the tag; name scopes are added before it.
        alignment: floats `[target, source]`, with heads `[heads, target, source]`,
            without padding.
        source_tokens: strings `[source]`, tensor or list.
        target_tokens: strings `[target]`.
        source_text: a string, the text of the tokens; None: the tokens are joined. The
            places of the tokens are found from left to right: subwords may begin with
            ▁, and the end token is `</s>`.
        target_text: the same for the target.
        heads: list of str, a name for each head; None: heads are numbered.
        step: an integer; None: `tf.summary.experimental.get_step()`.
        description: Markdown; None: no description.

    Returns:
        A bool tensor: whether the alignment was written.

    Example:
        >>> bool(attention("en-de/0", [[0.9, 0.1]], ["a", "cat"], ["Katze"], step=1))
        False
    """
    tensors = (
        _checked("alignment", alignment),
        _checked("source_tokens", source_tokens),
        _checked("target_tokens", target_tokens),
        _checked("source_text", "" if source_text is None else source_text),
        _checked("target_text", "" if target_text is None else target_text),
    )
    has_texts = source_text is not None, target_text is not None
    with tf.summary.experimental.summary_scope(
        name, "attention_summary", values=tensors
    ) as (tag, _):

        def serialized(*arrays):
            sentence = _picture(*arrays, has_texts, heads)
            summary = tf.compat.v1.Summary()
            values, content = record.record(sentence), record.content(sentence)
            record.add_value(summary, tag, values, content, description)
            return summary.SerializeToString()

        def write():
            if tf.executing_eagerly():  # TensorFlow would change the type of an error
                data = serialized(*(x.numpy() for x in tensors))
            else:
                data = tf.numpy_function(serialized, tensors, tf.string)
            return tf.summary.experimental.write_raw_pb(data, step)

        recorded = tf.summary.should_record_summaries()
        return tf.cond(recorded, write, lambda: tf.constant(False))


_EXPECTED = {  # by argument: dtype, ranks, and both in words
    "alignment": (
        tf.float32,
        (2, 3),
        "numbers [target, source] or [heads, target, source]",
    ),
    "source_tokens": (tf.string, (1,), "strings [source]"),
    "target_tokens": (tf.string, (1,), "strings [target]"),
    "source_text": (tf.string, (0,), "a string or None"),
    "target_text": (tf.string, (0,), "a string or None"),
}


def _checked(name, value):
    """Return a tensor of the right dtype and rank."""
    dtype, ranks, expected = _EXPECTED[name]
    try:
        tensor = tf.convert_to_tensor(value)
        usable = (tensor.dtype == tf.string) == (dtype == tf.string)
        usable = usable and tensor.shape.rank in (None, *ranks)
    except (TypeError, ValueError):
        usable = False
    if usable:
        return tensor if dtype == tf.string else tf.cast(tensor, dtype)
    received = abbreviated(value)
    remedy = "Pass one sentence without padding; call the op once for each sentence"
    if isinstance(value, (list, tuple)) and any(hasattr(x, "piece") for x in value):
        remedy = f"Pass their pieces: [token.piece for token in {name}]"
    if tf.is_tensor(value) or isinstance(value, np.ndarray):
        received = f"{tf.as_dtype(value.dtype).name} {tuple(value.shape)}"
    raise four_part_error(
        f"attention got an unusable {name}",
        expected,
        received,
        remedy,
    )


def _picture(
    alignment, source_tokens, target_tokens, source_text, target_text, has_texts, heads
):
    """Return the picture of one hypothesis from arrays of bytes."""
    source = _side(source_tokens, source_text, has_texts[0])
    target = _side(target_tokens, target_text, has_texts[1])
    return picture(*source, [hypothesis(*target, alignment, heads=heads)])


def _side(pieces, text, has_text):
    """Return a text and the tokens in it."""
    pieces = [piece.decode(errors="replace") for piece in pieces]
    text = text.decode(errors="replace") if has_text else joined(pieces)
    return text, in_text(text, pieces)
