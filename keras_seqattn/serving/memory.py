"""Memory: what the garbage collector looks at, and what goes back to the system."""

import ctypes
import gc
import os

LARGE = 250_000  # cells; a smaller computation takes a few MB


def use_system_allocator():
    """Keeps oneDNN from hoarding; to be called before TensorFlow computes anything.

    Its own allocator never gives memory back: after one batch of 64 texts of 400
    characters a server has 330 MB more for ever.
    """
    os.environ.setdefault("TF_ONEDNN_USE_SYSTEM_ALLOCATOR", "1")


def keep_loaded_objects():
    """Exempts all objects of now from garbage collection.

    TensorFlow and its graphs are a million objects. To look at all of them takes half a
    second, in which no thread runs.
    """
    gc.collect()
    gc.freeze()


def give_back():
    """Returns free memory to the system, in some milliseconds. Only glibc can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
