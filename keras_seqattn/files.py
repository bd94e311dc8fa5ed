"""Atomic writes of files and folders, and checksums of files.

A file or folder is written completely or not at all.
"""

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.safe_reading import open_regular, read_bytes

_MAX_BYTES = 4096  # of a file with checksums; it has at most two lines
UNFINISHED = ".unfinished-"  # prefix of a file that is being written


@contextlib.contextmanager
def replacing(path, with_checksum=False):
    """Yield a path for a new file, which then replaces the file at `path`.

    The data are on the disk before the name changes. After an error, a full disk or a
    power cut, the old file is still there.

    Args:
        path: path of the file.
        with_checksum: whether to write a checksum, for `is_whole`.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{UNFINISHED}{os.getpid()}-{path.name}")
    try:
        yield unfinished
        _sync(unfinished)
        if with_checksum:
            new = checksum(unfinished)
            # A kill may come before or after the renaming, so both checksums are valid.
            _write_checksums(path, [new, *_possible_checksums(path)])
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # the new file is in place already
        _sync(path.parent)  # writes its name to the disk
        if with_checksum and len(_checksums(path)) > 1:
            _write_checksums(path, [new])


@contextlib.contextmanager
def replacing_folder(path, owner, kind, names):
    """Yield a new folder beside `path`, which replaces it if there is no error.

    Args:
        path: path of a folder that does not exist, is empty, or is an older folder of
            the same kind.
        owner: name of the caller, for errors.
        kind: noun for this kind of folder, for errors.
        names: files and folders that such a folder may hold; it must hold the first.
    """
    path = os.path.realpath(_as_path(path, owner, kind))  # a link stays a link
    _check_replaceable(path, owner, kind, names)
    parent = os.path.dirname(path)
    os.makedirs(parent, exist_ok=True)
    new = tempfile.mkdtemp(prefix=f".{os.path.basename(path)}-", dir=parent)
    old = f"{new}-old"
    try:
        yield new
        os.chmod(new, 0o777 & ~_umask())  # mkdtemp allows access to the owner only
        _sync_tree(new)
        if os.path.exists(path):
            os.rename(path, old)
        os.rename(new, path)
    except BaseException:
        if os.path.exists(old) and not os.path.exists(path):
            os.rename(old, path)
        shutil.rmtree(new, ignore_errors=True)
        raise
    _sync(Path(parent))
    shutil.rmtree(old, ignore_errors=True)


def repair(folder, names):
    """Remove the leftovers of a killed process; restore a folder it was replacing.

    Call it only for folders of this library, and while no other process writes to them.

    Args:
        folder: path of the folder.
        names: names of the folders in it that `replacing_folder` writes.
    """
    folder = Path(folder)
    for path in leftovers(folder, names):
        name, _, end = path.name.removeprefix(".").rpartition("-")
        if path.is_dir() and end == "old" and not (folder / name[:-9]).exists():
            path.rename(folder / name[:-9])
        elif path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for path in folder.glob("*.weights.h5.sha256"):
        if not path.with_suffix("").exists():
            path.unlink()


def leftovers(folder, names):
    """Return the files and folders that a killed process was writing.

    Args:
        folder: path of the folder.
        names: names of the folders in it that `replacing_folder` writes.
    """
    unfinished = re.compile(re.escape(UNFINISHED) + r"\d+-.+")
    new = re.compile(rf"\.({'|'.join(names)})-[a-z0-9_]{{8}}(-old)?") if names else None
    return [
        path
        for path in sorted(Path(folder).iterdir())
        if not path.is_symlink()
        and (
            unfinished.fullmatch(path.name)
            if path.is_file()
            else path.is_dir() and new and new.fullmatch(path.name)
        )
    ]


def is_whole(path):
    """Whether a file has its stored checksum; None if no checksum is stored."""
    known = _checksums(path)
    return checksum(path) in known if known else None


def remove(path):
    """Remove a file and its checksum."""
    Path(path).unlink(missing_ok=True)
    _checksum_path(path).unlink(missing_ok=True)


def checksum(path):
    """Return the SHA-256 of a file in hexadecimal digits."""
    with open_regular("checksum", path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checksum_path(path):
    return Path(f"{os.fspath(path)}.sha256")


def _checksums(path):
    """Return the stored checksums of a file, newest first."""
    try:
        text = read_bytes("checksum", _checksum_path(path), _MAX_BYTES)
    except FileNotFoundError:
        return []
    lines = text.decode("ascii", "replace").splitlines()
    return [line.split()[0] for line in lines if line.strip()]


def _possible_checksums(path):
    """Return the checksums that the existing file may have."""
    known = _checksums(path)
    return known if known or not path.exists() else [checksum(path)]


def _write_checksums(path, values):
    """Write checksums in the format of `sha256sum`."""
    with replacing(_checksum_path(path)) as file:
        lines = (f"{value}  {Path(path).name}\n" for value in values)
        file.write_text("".join(lines), encoding="utf-8")


def _sync_tree(folder):
    for path in Path(folder).rglob("*"):
        _sync(path)
    _sync(Path(folder))


def _sync(path):
    is_folder, is_windows = path.is_dir(), os.name == "nt"
    if is_folder and is_windows:
        return  # Windows cannot open folders
    handle = os.open(path, os.O_RDWR if is_windows else os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        if not is_folder:  # some network file systems cannot sync folders
            raise
    finally:
        os.close(handle)


def _as_path(path, owner, kind):
    try:
        return os.fspath(path)
    except TypeError:
        raise four_part_error(
            f"{owner} got an unusable path",
            f"the path of a folder for a {kind}",
            abbreviated(path),
            "Pass a new name, e.g. 'models/first'",
        ) from None


def _check_replaceable(path, owner, kind, names):
    """Check that a folder is empty, or an older one of its kind."""
    if not os.path.lexists(path):
        return
    held = set(os.listdir(path)) if os.path.isdir(path) else {path}
    if held and (names[0] not in held or held - set(names)):
        raise four_part_error(
            f"{owner} got a path that holds something else",
            f"a free one, an empty folder, or nothing but an older {kind}",
            repr(path),
            "Choose another",
        )


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
