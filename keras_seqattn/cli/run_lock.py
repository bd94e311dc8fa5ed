"""A lock on the folder of a run: only one process at a time may write to it."""

import contextlib
import errno
import os
import platform
import shlex
import stat
import time
from pathlib import Path

from keras_seqattn.cli.progress import note
from keras_seqattn.errors import four_part_error

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

NAME = ".lock"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND
_FLAGS |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


@contextlib.contextmanager
def locked(folder, command):
    """Inside this context, no other process trains in the folder.

    The folder is created if it is missing, and removed again if it stays empty. The
    operating system releases the lock when the process ends, even if it is killed.

    Args:
        folder: path.
        command: list of str, which the errors of other processes show.
    """
    folder = Path(folder)
    is_new = not folder.exists()
    with _locked_file(folder) as file:
        with contextlib.suppress(OSError):  # the lock also works on a full disk
            file.truncate(0)
            file.write(_process_info(command))
            file.flush()
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                (folder / NAME).unlink()
                if is_new:
                    folder.rmdir()  # if it is empty


def _locked_file(folder):
    """Return the locked file. Another process may remove it before it is locked."""
    while True:
        file = _open(folder)
        try:
            _lock(file, folder)
            if _is_current(file, folder / NAME):
                return file
        except BaseException:
            file.close()
            raise
        file.close()


def _is_current(file, path):
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _open(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # An untrusted folder may hold a link or a pipe of this name.
        handle = os.open(folder / NAME, _FLAGS, 0o666)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(errno.EINVAL, f"{NAME} is not a regular file")
        return os.fdopen(handle, "a+", encoding="utf-8", errors="replace")
    except OSError as error:
        raise four_part_error(
            "train cannot write in the folder of the run",
            "a folder on a disk that can be written to",
            f"{str(folder)!r} with the error {error.strerror!r}",
            "Choose another folder, or change its permissions",
        ) from error


def _lock(file, folder):
    try:
        if fcntl is None:
            _lock_on_windows(file)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _HELD:
            note(
                f"{folder} is on a file system without locks ({error.strerror}): make "
                "sure that no other training writes to it."
            )
            return
        file.seek(0)
        raise four_part_error(
            "train got the folder of a run that another process writes to",
            "a run that is not being trained",
            f"{str(folder)!r}, held by {file.read().strip() or 'another process'}",
            "Wait until it ends, or choose another folder",
        ) from None


def _lock_on_windows(file):
    file.seek(2**30)  # far behind the text, so that other processes can read it
    msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)


def _process_info(command):
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    process = f"process {os.getpid()} on {platform.node()} since {since}"
    return f"{process}: {shlex.join(['seqattn', *command])}\n"
