"""A saved translator as a value, for `pickle`: the files of its folder."""

import tempfile
from pathlib import Path


def packed(save):
    """Return `{path: bytes}` of the folder that `save(folder)` writes."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "translator")
        save(folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {
            path.relative_to(folder).as_posix(): path.read_bytes() for path in files
        }


def unpacked(files, load):
    """Return what `load(folder)` returns for a folder with these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        return load(folder)
