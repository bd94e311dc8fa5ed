"""The state of a model in a search: its axis for the beam, and its order."""

import inspect

import tensorflow as tf
from keras import tree

from keras_seqattn.ops.past import next_place
from keras_seqattn.types import Past

STEPS = 4  # for which there is room after `make_room`, at least


def start(model, source, room):
    """Return `model.start(source)`, with room for the past if the model has one.

    Args:
        model: `StepModel`. Its `start` may have an argument `max_length`.
        source: what `model.start` takes.
        room: Python integer, the number of steps at most; None: `make_room` is called
            before each step.
    """
    if "max_length" in inspect.signature(model.start).parameters:
        return model.start(source, max_length=STEPS if room is None else room)
    return model.start(source)


def with_beam(state, beam):
    """Return the state `[batch, beam, ...]`, the same for all hypotheses of a sentence.

    Args:
        state: of the model, `[batch, ...]`.
        beam: Python int; None: there is no beam.
    """
    if beam is None:
        return _map(tf.convert_to_tensor, lambda past: past, state)

    def of_past(past):
        past = past._replace(is_own=_repeat(past.is_own, beam))
        room = past.is_own.shape[-1]
        return past if _grows(past) else _with_capacity(past, beam * room)

    return _map(lambda x: _repeat(x, beam), of_past, state)


def with_any_room(state):
    """Return the state in a form whose pasts may get more room in a `tf.while_loop`."""

    def of(x, axis):
        shape = x.shape.as_list()
        shape[axis] = None
        return tf.compat.v1.placeholder_with_default(x, shape)

    def of_past(past):
        nodes = tree.map_structure(lambda x: of(x, -2), past.nodes)
        return past._replace(nodes=nodes, is_own=of(past.is_own, -1))

    return _map(tf.convert_to_tensor, of_past, state)


def make_room(state):
    """Return the state with room in its pasts for the nodes of the next step.

    Where there is none left, the nodes that belong to no hypothesis any more are
    dropped, and there is room for some steps: so the cost of a copy is that of a few
    nodes, for each step, however long the past is.
    """
    return _map(tf.convert_to_tensor, _made_room, state)


def follow(state, parents):
    """Return the state of the hypotheses `parents` int32 `[batch, beam]`."""

    def of_past(past):
        return past._replace(is_own=take(past.is_own))

    def take(x):
        return tf.gather(x, parents, batch_dims=1)

    return _map(take, of_past, state)


def _map(on_tensor, on_past, state):
    """Apply a function to each tensor of a nest, and another one to each `Past`."""
    if isinstance(state, Past):
        return on_past(state)
    if not tree.is_nested(state):
        return on_tensor(state)
    each = [_map(on_tensor, on_past, x) for x in _children(state)]
    return tree.pack_sequence_as(state, tree.flatten(each))


def _children(nest):
    return [nest[key] for key in sorted(nest)] if isinstance(nest, dict) else nest


def _repeat(x, count):
    """Return `[batch, count, ...]`: each row `count` times."""
    x = tf.convert_to_tensor(x)
    return tf.repeat(x[:, None], count, axis=1)


def _grows(past):
    return isinstance(past.used, tuple)


def _with_capacity(past, capacity):
    """Return a past with room for `capacity` nodes in all."""
    more = capacity - tf.shape(past.is_own)[-1]

    def longer(x, axis):
        widths = [[0, 0] for _ in x.shape]
        widths[axis][1] = more
        return tf.pad(x, widths)

    nodes = tree.map_structure(lambda x: longer(x, -2), past.nodes)
    return past._replace(nodes=nodes, is_own=longer(past.is_own, -1))


def _made_room(past):
    if _grows(past):
        return past
    beam = past.is_own.shape[1] if len(past.is_own.shape) == 3 else 1

    def more():
        alive = past if len(past.is_own.shape) == 2 else _without_dead_nodes(past)
        count = tf.shape(alive.is_own)[-1]
        longer = _with_capacity(alive, count + beam * STEPS + count // 4)
        return longer._replace(used=tf.zeros_like(past.used) + count)

    is_full = next_place(past) + beam > tf.shape(past.is_own)[-1]
    made = tf.cond(is_full, more, lambda: past)
    tree.map_structure(lambda x, y: x.set_shape(y.shape), made, past)
    return made


def _without_dead_nodes(past):
    """Return a past with the nodes that some hypothesis owns, in their order.

    The sentence with the most such nodes keeps only these; others keep dead ones, too.
    """
    is_alive = tf.reduce_any(past.is_own, axis=1)
    most = tf.reduce_max(tf.reduce_sum(tf.cast(is_alive, tf.int32), axis=1))
    first = tf.argsort(tf.cast(~is_alive, tf.int32), axis=1, stable=True)[:, :most]

    def kept(x):
        return tf.gather(x, first, axis=len(x.shape) - 2, batch_dims=1)

    return past._replace(
        nodes=tree.map_structure(kept, past.nodes),
        is_own=tf.gather(past.is_own, first, axis=2, batch_dims=1),
    )
