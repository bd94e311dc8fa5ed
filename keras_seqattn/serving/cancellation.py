"""TensorFlow computations that can be ended before they have an answer.

The modules of TensorFlow that do this are private: a name that is missing in another
release means that a computation runs to its end.
"""

import tensorflow as tf

try:
    from tensorflow.python.eager import context, execute
    from tensorflow.python.eager.cancellation import CancellationManager
except ImportError:  # pragma: no cover
    CancellationManager = None


class Cancellation:
    """Ends computations: the running one at its next step, later ones at once."""

    def __init__(self):
        self._manager, self.is_cancelled = None, False

    def cancel(self):
        """Ends them. They raise `tf.errors.CancelledError`."""
        self.is_cancelled = True
        if self._manager is not None:
            self._manager.start_cancel()

    def run(self, function, names, tensors):
        """Calls a function of a SavedModel.

        `CancellationManager.get_cancelable_function` is the documented way, but it
        writes the manager to a global variable, and two lanes compute at once.

        Args:
            function: concrete function.
            names: of its arguments in the order of its inputs, see `argument_names`.
            tensors: dict of tensors by these names.
        """
        if CancellationManager is None or names is None:
            return function(**tensors)
        self._manager = CancellationManager()  # an error cancels it, so one for each
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
    """The names of a concrete function's arguments in the order of its inputs.

    None if they cannot be told: then it runs without cancellation.
    """
    if not all(hasattr(function, name) for name in ("inputs", "captured_inputs")):
        return None
    names = [tensor.op.name for tensor in function.inputs[: len(expected)]]
    is_known = set(names) == set(expected) and isinstance(function.name, bytes)
    return names if is_known else None
