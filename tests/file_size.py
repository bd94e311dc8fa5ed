"""Files that cannot grow, as on a full disk."""

import contextlib

import pytest


@contextlib.contextmanager
def file_size_limit(size):
    """The system refuses to write longer files, as it does on a full disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
