"""The versions of a model on disk, laid out as TensorFlow Serving wants them."""

from pathlib import Path

from keras_seqattn.errors import four_part_error
from keras_seqattn.shipped_models import named


def find(path, wanted=None):
    """Folders with a SavedModel, by number.

    Args:
        path: a folder with a SavedModel, version 1 unless its name is a number, or one
            with such folders named 1, 2, ...; or the name of a shipped model.
        wanted: None: the highest; "all"; or numbers between commas.
    """
    path = Path(named(path))
    found = _all(path)
    if not found:
        received = "without saved_model.pb" if path.is_dir() else "no folder"
        remedy = "Check the path, or run seqattn export"
        if path.is_file():
            received = "a file"
            remedy += " without --litert, whose files are for devices"
        raise four_part_error(
            "serve found no exported model",
            "a folder that seqattn export has written, or one with such folders "
            "named 1, 2, ...",
            f"{str(path)!r}, {received}",
            remedy,
        )
    if wanted is None:
        return {max(found): found[max(found)]}
    if wanted == "all":
        return found
    numbers = [_number(word.strip()) for word in wanted.split(",")]
    if not set(numbers) <= set(found):
        raise four_part_error(
            "serve got versions that are not there",
            f"all, or some of {', '.join(map(str, sorted(found)))}",
            repr(wanted),
            f"Write e.g. --versions {max(found)}, or leave it out for the highest",
        )
    return {number: found[number] for number in numbers}


def name_of(path):
    """What a model is called that nobody named: as its folder, versions aside."""
    path = Path(named(path)).resolve()
    return path.parent.name if _is_model(path) and _number(path.name) else path.name


def _all(path):
    if _is_model(path):
        return {_number(path.resolve().name) or 1: path}
    if not path.is_dir():
        return {}
    folders = [folder for folder in path.iterdir() if _number(folder.name)]
    return {_number(folder.name): folder for folder in folders if _is_model(folder)}


def _is_model(folder):
    return (folder / "saved_model.pb").is_file()


def _number(word):
    """The number that a word is, or None."""
    return int(word) if word.isascii() and word.isdigit() and int(word) else None
