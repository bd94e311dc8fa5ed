"""Memory: what the garbage collector looks at, and what goes back to the system."""

import ctypes
import gc
import os

LARGE = 250_000  # cells; a smaller computation takes a few MB
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # numbers in malloc.h
KEPT = 2**28  # bytes at the end of the heap
LARGEST = 2**25  # bytes; glibc allows no more


def use_system_allocator():
    """Lets oneDNN use malloc; to be called before TensorFlow computes anything.

    Its own allocator never gives memory back: a server would keep what its largest
    batch has needed. malloc's usual thresholds give memory back after each batch, which
    costs time; `give_back` does it more rarely.
    """
    if "TF_ONEDNN_USE_SYSTEM_ALLOCATOR" in os.environ:
        return
    os.environ["TF_ONEDNN_USE_SYSTEM_ALLOCATOR"] = "1"
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc
    if set_option is not None:
        set_option(TRIM_THRESHOLD, KEPT)
        set_option(MMAP_THRESHOLD, LARGEST)


def keep_loaded_objects():
    """Exempts all objects of now from garbage collection.

    TensorFlow and its graphs are very many objects, and while the collector looks at
    them no thread runs.
    """
    gc.collect()
    gc.freeze()


def give_back():
    """Returns free memory to the system. Only glibc can do this."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
