"""Memory of the server: garbage collection, and returning memory to the system."""

import ctypes
import gc
import os

LARGE = 250_000  # cells; a smaller computation takes a few MB
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # numbers in malloc.h
KEPT = 2**28  # bytes at the end of the heap
LARGEST = 2**25  # bytes; glibc allows no more


def use_system_allocator():
    """Make oneDNN use malloc. Call this before TensorFlow computes anything.

    oneDNN's own allocator never returns memory: the server would keep the memory of its
    largest batch. With malloc's default thresholds, memory returns to the system after
    each batch, which costs time. So the thresholds are raised, and `give_back` returns
    memory less often.
    """
    if "TF_ONEDNN_USE_SYSTEM_ALLOCATOR" in os.environ:
        return
    os.environ["TF_ONEDNN_USE_SYSTEM_ALLOCATOR"] = "1"
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc
    if set_option is not None:
        set_option(TRIM_THRESHOLD, KEPT)
        set_option(MMAP_THRESHOLD, LARGEST)


def keep_loaded_objects():
    """Exempt all existing objects from garbage collection.

    TensorFlow and its graphs are very many objects. While the collector visits them, no
    thread runs.
    """
    gc.collect()
    gc.freeze()


def give_back():
    """Return free memory to the system. Only glibc can do this."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
