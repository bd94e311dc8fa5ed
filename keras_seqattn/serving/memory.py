"""Memory goes back to the system after a large computation."""

import ctypes
import os

LARGE = 250_000  # cells; a smaller computation takes a few MB


def use_system_allocator():
    """Keeps oneDNN from hoarding; to be called before TensorFlow computes anything.

    Its own allocator never gives memory back: after one batch of 64 texts of 400
    characters a server has 330 MB more for ever.
    """
    os.environ.setdefault("TF_ONEDNN_USE_SYSTEM_ALLOCATOR", "1")


def give_back():
    """Returns free memory to the system, in some milliseconds. Only glibc can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
