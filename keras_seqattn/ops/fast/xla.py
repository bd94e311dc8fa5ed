"""Who will run what is being traced."""

import tensorflow as tf
from tensorflow.python.ops import control_flow_util


def under_xla():
    """Whether what is being traced will be compiled by XLA."""
    graph = tf.compat.v1.get_default_graph()
    return control_flow_util.GraphOrParentsInXlaContext(graph)
