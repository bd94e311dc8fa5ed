"""The folder and the files of a corpus."""

import os

from keras_seqattn.errors import four_part_error

VARIABLE = "KERAS_SEQATTN_DATA"


def folder_of(corpus, folder):
    """Return the folder that was passed, else the environment's subfolder, or None."""
    if folder is not None:
        return os.fspath(folder)
    root = os.environ.get(VARIABLE)
    return os.path.join(root, corpus) if root else None


def file_in(corpus, folder, name):
    """Return the path of a file, which may be compressed."""
    for path in (os.path.join(folder, f"{name}.gz"), os.path.join(folder, name)):
        if os.path.isfile(path):
            return path
    raise four_part_error(
        f"{corpus} got a folder without its files",
        f"{name!r} or '{name}.gz' in {folder!r}",
        f"{_contents(folder)}",
        f"Pass another folder, or set {VARIABLE} to the folder that contains the "
        f"folder {corpus!r}",
        kind=FileNotFoundError,
    )


def _contents(folder):
    if not os.path.isdir(folder):
        return "no folder"
    names = sorted(os.listdir(folder))
    return f"{names[:5]}" if len(names) <= 5 else f"{names[:5]} and others"
