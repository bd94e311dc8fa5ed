"""The context of a call of a layer, which Keras keeps in global attributes."""

import contextlib
import copy

from keras.src.backend.common import global_state  # no public name

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
