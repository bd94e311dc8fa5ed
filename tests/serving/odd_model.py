"""A SavedModel with signatures that a translator does not have."""

import tensorflow as tf


def write(folder):
    """Strings, numbers, scalars, failures, and patience."""
    functions = (half, echo, logarithm, wait, picky, read, repeat, total)
    signatures = {function.__name__: _traced(function) for function in functions}
    signatures["serving_default"] = signatures.pop("half")
    tf.saved_model.save(tf.Module(), folder, signatures=signatures)


def _traced(function):
    specs = [
        tf.TensorSpec(shape, dtype, name=name)
        for name, (dtype, shape) in function.__annotations__.items()
    ]
    return tf.function(function, input_signature=specs, autograph=False)


STRINGS, FLOATS = (tf.string, [None]), (tf.float32, [None])


def half(x: FLOATS):
    return {"y": x / 2}


def echo(
    flag: (tf.bool, [None]),
    count: (tf.int8, [None]),
    pair: (tf.float64, [None, 2]),
    name: STRINGS,
):
    """Everything comes back; bytes as such."""
    same = {"flag": flag, "count": count, "pair": pair, "name": name}
    return {**{k: tf.identity(v) for k, v in same.items()}, "name_bytes": name + ""}


def logarithm(x: FLOATS):
    """Of 0 and of -1 it is no number."""
    return {"y": tf.math.log(x)}


def wait(seconds: FLOATS):
    end = tf.timestamp() + tf.cast(tf.reduce_max(seconds), tf.float64)
    turns = tf.while_loop(lambda i: tf.timestamp() < end, lambda i: [i + 1], [0])
    with tf.control_dependencies(turns):
        return {"seconds": tf.identity(seconds)}


def picky(text: STRINGS):
    """Fails where one of them is "bad"."""
    bad = tf.reduce_any(text == "bad")
    with tf.control_dependencies([tf.debugging.Assert(~bad, ["a secret"])]):
        return {"text": text + "!"}


def read(path: STRINGS):
    """Fails in another way: not because of its arguments."""
    return {"content": tf.map_fn(tf.io.read_file, path)}


def repeat(text: STRINGS, times: (tf.int32, [])):
    """One of its inputs has no rows."""
    return {"text": tf.repeat(text, times)}


def total(x: FLOATS):
    return {"sum": tf.reduce_sum(x)}
