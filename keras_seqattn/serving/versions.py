"""The version folders of a model, named 1, 2, ... as in TensorFlow Serving."""

from pathlib import Path

from keras_seqattn.errors import four_part_error
from keras_seqattn.shipped_models import resolve_path


def find_versions(path, wanted=None):
    """Return the folders that hold a SavedModel, by version number.

    Args:
        path: a folder with a SavedModel, or a folder with version folders 1, 2, ...; or
            the name of a shipped model. A SavedModel whose folder is not named by a
            number is version 1.
        wanted: None for the highest version; "all"; or numbers with commas between.
    """
    path = Path(resolve_path(path))
    folders = _all_versions(path)
    if not folders:
        raise _no_model(path)
    if wanted is None:
        return {max(folders): folders[max(folders)]}
    if wanted == "all":
        return folders
    numbers = [_number(word.strip()) for word in wanted.split(",")]
    if not set(numbers) <= set(folders):
        raise four_part_error(
            "serve did not find all of these versions",
            f"all, or some of {', '.join(map(str, sorted(folders)))}",
            repr(wanted),
            f"Write e.g. --versions {max(folders)}, or leave it out for the highest",
        )
    return {number: folders[number] for number in numbers}


def model_name(path):
    """Return the default name of a model: its folder, without the version folder."""
    path = Path(resolve_path(path)).resolve()
    return path.parent.name if _is_model(path) and _number(path.name) else path.name


def _no_model(path):
    received = "without saved_model.pb" if path.is_dir() else "no folder"
    remedy = "Check the path, or run seqattn export"
    if path.is_file():
        received = "a file"
        remedy = (
            "Name the folder that seqattn export wrote, without --litert; seqattn "
            "translate reads files of texts"
        )
    return four_part_error(
        "serve found no exported model",
        "a folder of seqattn export, or a folder with version folders 1, 2, ...",
        f"{str(path)!r}, {received}",
        remedy,
    )


def _all_versions(path):
    if _is_model(path):
        return {_number(path.resolve().name) or 1: path}
    if not path.is_dir():
        return {}
    folders = [folder for folder in path.iterdir() if _number(folder.name)]
    return {_number(folder.name): folder for folder in folders if _is_model(folder)}


def _is_model(folder):
    return (folder / "saved_model.pb").is_file()


def _number(word):
    """Return the positive number that a word is, or None."""
    return int(word) if word.isascii() and word.isdigit() and int(word) else None
