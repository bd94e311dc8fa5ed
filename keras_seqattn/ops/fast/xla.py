"""Whether XLA compiles the graph that is being traced."""

import tensorflow as tf
from tensorflow.python.ops import control_flow_util


def under_xla():
    """Whether XLA will compile the graph that is being traced."""
    graph = tf.compat.v1.get_default_graph()
    return control_flow_util.GraphOrParentsInXlaContext(graph)
