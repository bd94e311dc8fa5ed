"""Words that the model has no token for, taken over from where it looked."""

import tensorflow as tf

from keras_seqattn.errors import four_part_error


def replace_unknown(target, source, alignments, unknown="<unk>", dictionary=None):
    """Puts the source word with the largest alignment in place of unknown ones.

    Args:
        target: strings `[batch, target]` or `[batch, n_best, target]`.
        source: strings `[batch, source]`. Positions that hold an empty string (padding,
            or special tokens that you blank out) are never taken.
        alignments: of the targets, as `Decoded` and `Scored` have them:
            `[..., target, source]`, heads before target count by their mean.
        unknown: the string to replace.
        dictionary: `tf.lookup` table (or anything with `lookup(strings)`) from source
            words to target words, or a dict; a word that it does not know is copied.
            None: all are copied.

    Returns:
        strings, the shape of `target`. Where nothing could be taken it stays unknown.

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
            "Pass those of the same Decoded or Scored",
        )
    between = [None] * (len(alignments.shape) - 2)
    real = (source != "")[(slice(None), *between)]
    where = tf.where(real, alignments, -1.0)
    position = tf.argmax(where, axis=-1, output_type=tf.int32)
    found = tf.reduce_max(where, axis=-1) > 0
    words = source if dictionary is None else _translated(source, dictionary)
    flat = tf.reshape(position, [tf.shape(position)[0], -1])
    taken = tf.reshape(tf.gather(words, flat, batch_dims=1), tf.shape(position))
    return tf.where((target == unknown) & found, taken, target)


def _translated(words, dictionary):
    if isinstance(dictionary, dict):
        rows = list(dictionary), list(dictionary.values())
        initializer = tf.lookup.KeyValueTensorInitializer(*rows, tf.string, tf.string)
        dictionary = tf.lookup.StaticHashTable(initializer, default_value="")
    known = dictionary.lookup(words)
    return tf.where(known == "", words, known)
