"""A folder that is written as a whole or not at all."""

import contextlib
import os
import shutil
import tempfile


@contextlib.contextmanager
def whole_folder(path, owner, older, names):
    """A new folder beside the path, which takes its place if nothing goes wrong.

    Args:
        path: of a folder that does not exist, is empty, or is an older one of its kind.
        owner: who writes, for the error.
        older: what the kind is called, for the error.
        names: files and folders that it may have; the first one it must have.
    """
    path = os.path.realpath(os.fspath(path))  # a link stays one
    _check_free(path, owner, older, names)
    parent = os.path.dirname(path)
    os.makedirs(parent, exist_ok=True)
    new = tempfile.mkdtemp(prefix=f".{os.path.basename(path)}-", dir=parent)
    old = f"{new}-old"
    try:
        yield new
        os.chmod(new, 0o777 & ~_umask())  # mkdtemp lets nobody else in
        if os.path.exists(path):
            os.rename(path, old)
        os.rename(new, path)
    except BaseException:
        if os.path.exists(old) and not os.path.exists(path):
            os.rename(old, path)
        shutil.rmtree(new, ignore_errors=True)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _check_free(path, owner, older, names):
    """Nothing is lost but what may be replaced."""
    if not os.path.lexists(path):
        return
    held = set(os.listdir(path)) if os.path.isdir(path) else {path}
    if held and (names[0] not in held or held - set(names)):
        raise ValueError(
            f"{owner} got a path that holds something else. Expected a free one, an "
            f"empty folder, or nothing but an older {older}, received {path!r}. Choose "
            "another."
        )


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
