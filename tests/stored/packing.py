"""Folders in small files: zip archives whose bytes depend on the content only."""

import json
import zipfile
from pathlib import Path

import numpy as np

FILES = Path(__file__).with_name("files")
_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that an archive can hold


def pack(folder, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            member = zipfile.ZipInfo(file.relative_to(folder).as_posix(), _DATE)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, file.read_bytes())


def unpack(name, folder):
    with zipfile.ZipFile(FILES / f"{name}.zip") as archive:
        archive.extractall(folder)
    return folder


def stems(name, suffix):
    """Of the files with this suffix on top of an archive, in order."""
    with zipfile.ZipFile(FILES / f"{name}.zip") as archive:
        paths = map(Path, archive.namelist())
        found = [p for p in paths if p.suffix == suffix and len(p.parts) == 1]
    return [path.stem for path in found]


def write_json(path, content):
    text = json.dumps(content, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def read_arrays(path):
    with np.load(path) as file:
        return {name: file[name] for name in file}
