"""Unknown target words, replaced by the source words they are aligned to."""

import tensorflow as tf

from keras_seqattn.errors import four_part_error


def replace_unknown(target, source, alignments, unknown="<unk>", dictionary=None):
    """Replace unknown target words by the source words with the largest alignment.

    Args:
        target: strings `[batch, target]` or `[batch, n_best, target]`.
        source: strings `[batch, source]`. Empty strings (padding, or special tokens
            that you blank out) are never used.
        alignments: the alignments of a `Decoded` or `Scored`:
            `[..., target, source]`; heads before target count by their mean.
        unknown: the string to replace.
        dictionary: a dict from source words to target words, or a `tf.lookup` table (or
            any object with `lookup(strings)`). Source words that it does not have are
            copied. None: all are copied.

    Returns:
        strings, the shape of `target`. A target word without any alignment to a real
        source word stays unknown.

    Example:
        >>> replaced = replace_unknown(
        ...     [["my", "<unk>"]], [["mon", "nom"]], [[[0.9, 0.1], [0.2, 0.8]]]
        ... )
        >>> replaced.numpy()[0, 1]
        b'nom'

    References:
        Luong et al. 2015, arXiv:1410.8206.
        Jean et al. 2015, arXiv:1412.2007.
    """
    target, source = tf.convert_to_tensor(target), tf.convert_to_tensor(source)
    alignments = tf.convert_to_tensor(alignments)
    if len(alignments.shape) == len(target.shape) + 2:
        alignments = tf.reduce_mean(alignments, axis=-3)
    if len(alignments.shape) != len(target.shape) + 1:
        raise four_part_error(
            "replace_unknown got alignments that do not fit the target",
            f"[..., target, source] for a target of shape {tuple(target.shape)}",
            f"shape {tuple(alignments.shape)}",
            "Pass the alignments of the same Decoded or Scored",
        )
    between = [None] * (len(alignments.shape) - 2)
    real = (source != "")[(slice(None), *between)]
    weights = tf.where(real, alignments, -1.0)
    position = tf.argmax(weights, axis=-1, output_type=tf.int32)
    is_aligned = tf.reduce_max(weights, axis=-1) > 0
    words = source if dictionary is None else _translate(source, dictionary)
    flat = tf.reshape(position, [tf.shape(position)[0], -1])
    aligned = tf.reshape(tf.gather(words, flat, batch_dims=1), tf.shape(position))
    return tf.where((target == unknown) & is_aligned, aligned, target)


def _translate(words, dictionary):
    """Return the words, translated where the dictionary has them."""
    if isinstance(dictionary, dict):
        rows = list(dictionary), list(dictionary.values())
        initializer = tf.lookup.KeyValueTensorInitializer(*rows, tf.string, tf.string)
        dictionary = tf.lookup.StaticHashTable(initializer, default_value="")
    translations = dictionary.lookup(words)
    return tf.where(translations == "", words, translations)
