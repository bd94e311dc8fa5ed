"""What a layer knows without being told, while it is called: Keras has it apart."""

import contextlib
import copy

from keras.src.backend.common import global_state  # no public name

# Whether it trains, if nobody says; and the dtype in which it reads its weights.
NAMES = ("current_call_ctx", "autocast_scope")


class CallContext:
    """That of the call in which this is made; `again()` brings it back later."""

    def __init__(self):
        # A copy: Keras goes on with its own.
        self.values = [copy.copy(value) for value in _get()]

    @contextlib.contextmanager
    def again(self):
        """Around code that shall see what the call has seen."""
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
