"""The context of a call: global attributes of Keras, and whether XLA compiles."""

import contextlib
import copy

import tensorflow as tf
from keras.src.backend.common import global_state  # no public name
from tensorflow.python.ops import control_flow_util

# The value of `training` where it is not passed; the dtype in which weights are read.
NAMES = ("current_call_ctx", "autocast_scope")


class CallContext:
    """The context of the call in which this object is made; `again()` restores it."""

    def __init__(self):
        # A copy, because Keras changes its own.
        self.values = [copy.copy(value) for value in _get()]

    @contextlib.contextmanager
    def again(self):
        """Run the code inside in the context of that call."""
        before = _get()
        _set(self.values)
        try:
            yield
        finally:
            _set(before)


def _get():
    return [global_state.get_global_attribute(name) for name in NAMES]


def _set(values):
    for name, value in zip(NAMES, values, strict=True):
        global_state.set_global_attribute(name, value)


def under_xla():
    """Whether XLA will compile the graph that is being traced."""
    graph = tf.compat.v1.get_default_graph()
    return control_flow_util.GraphOrParentsInXlaContext(graph)
