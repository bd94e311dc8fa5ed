"""The summary op for training loops of one's own."""

import numpy as np
import tensorflow as tf

from keras_seqattn.errors import four_part_error
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

    As `tf.summary.scalar` and its kind: it does nothing where no writer is or
    `tf.summary.record_if` forbids it, and it runs in a `tf.function` (not under XLA).
    The source of a tag shall stay the same from step to step.

    Args:
        name: of the tag, which name scopes are put in front of.
        alignment: floats `[target, source]`, with heads `[heads, target, source]`,
            without padding.
        source_tokens: strings `[source]`, tensor or list.
        target_tokens: strings `[target]`.
        source_text: a string, what the tokens make together; None: they are joined.
            The tokens are looked for in it from left to right: subwords may begin with
            ▁, the end token is `</s>`.
        target_text: the same for the target.
        heads: list of str, a name for each head; None: they have numbers.
        step: an integer; None: `tf.summary.experimental.get_step()`.
        description: Markdown; None: there is none.

    Returns:
        A bool tensor: whether something was written.

    Example:
        >>> bool(attention("en-de/0", [[0.9, 0.1]], ["a", "cat"], ["Katze"], step=1))
        False
    """
    given = (
        _checked("alignment", alignment),
        _checked("source_tokens", source_tokens),
        _checked("target_tokens", target_tokens),
        _checked("source_text", "" if source_text is None else source_text),
        _checked("target_text", "" if target_text is None else target_text),
    )
    has_texts = source_text is not None, target_text is not None
    with tf.summary.experimental.summary_scope(
        name, "attention_summary", values=given
    ) as (tag, _):

        def serialized(*arrays):
            made = _picture(*arrays, has_texts, heads)
            summary = tf.compat.v1.Summary()
            values, content = record.record(made), record.content(made)
            record.add_value(summary, tag, values, content, description)
            return summary.SerializeToString()

        def write():
            if tf.executing_eagerly():  # errors as they are, not as TensorFlow's
                data = serialized(*(x.numpy() for x in given))
            else:
                data = tf.numpy_function(serialized, given, tf.string)
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
    """A tensor of the right kind and rank."""
    dtype, ranks, expected = _EXPECTED[name]
    try:
        tensor = tf.convert_to_tensor(value)
        usable = (tensor.dtype == tf.string) == (dtype == tf.string)
        usable = usable and tensor.shape.rank in (None, *ranks)
    except (TypeError, ValueError):
        usable = False
    if usable:
        return tensor if dtype == tf.string else tf.cast(tensor, dtype)
    received = repr(value)
    if tf.is_tensor(value) or isinstance(value, np.ndarray):
        received = f"{tf.as_dtype(value.dtype).name} {tuple(value.shape)}"
    raise four_part_error(
        f"attention got an unusable {name}",
        expected,
        received,
        "Pass one sentence, without padding: call it once for each",
    )


def _picture(
    alignment, source_tokens, target_tokens, source_text, target_text, has_texts, heads
):
    """The picture of one hypothesis, of arrays of bytes."""
    source = _side(source_tokens, source_text, has_texts[0])
    target = _side(target_tokens, target_text, has_texts[1])
    return picture(*source, [hypothesis(*target, alignment, heads=heads)])


def _side(pieces, text, has_text):
    """A text and the tokens in it."""
    pieces = [piece.decode(errors="replace") for piece in pieces]
    text = text.decode(errors="replace") if has_text else joined(pieces)
    return text, in_text(text, pieces)
