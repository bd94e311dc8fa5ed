"""TensorFlow computations that can be cancelled.

This needs private modules of TensorFlow. If another release of TensorFlow has moved
them, computations run to their end.
"""

import tensorflow as tf

try:
    from tensorflow.python.eager import context, execute
    from tensorflow.python.eager.cancellation import CancellationManager
except ImportError:  # pragma: no cover
    CancellationManager = None


class Cancellation:
    """Cancels computations: the running one at its next step, later ones at once."""

    def __init__(self):
        self._manager, self.is_cancelled = None, False

    def cancel(self):
        """Cancel them. They raise `tf.errors.CancelledError`."""
        self.is_cancelled = True
        if self._manager is not None:
            self._manager.start_cancel()

    def run(self, function, names, tensors):
        """Call a function of a SavedModel.

        `CancellationManager.get_cancelable_function` is the documented way, but it
        writes the manager to a global variable, and two queues compute at once.

        Args:
            function: concrete function.
            names: names of its arguments, from `argument_names`; None runs it without
                cancellation.
            tensors: dict of tensors by these names.
        """
        if CancellationManager is None or names is None:
            return function(**tensors)
        self._manager = CancellationManager()  # a new one: an error cancels it for good
        if self.is_cancelled:
            self._manager.start_cancel()
        eager = context.context()
        attributes = eager.function_call_options.as_attrs().items()
        outputs = execute.execute_with_cancellation(
            function.name.decode(),
            len(function.outputs),
            [*(tensors[name] for name in names), *function.captured_inputs],
            tuple(part for attribute in attributes for part in attribute),
            eager,
            self._manager,
        )
        return tf.nest.pack_sequence_as(function.structured_outputs, outputs)


def argument_names(function, expected):
    """Return the names of a concrete function's arguments in the order of its inputs.

    Return None if the order is not known.
    """
    if not all(hasattr(function, name) for name in ("inputs", "captured_inputs")):
        return None
    names = [tensor.op.name for tensor in function.inputs[: len(expected)]]
    is_known = set(names) == set(expected) and isinstance(function.name, bytes)
    return names if is_known else None
