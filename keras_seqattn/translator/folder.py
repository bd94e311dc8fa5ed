"""Saves a translator in a folder: the model, the text processors, the options."""

import json
import os
import warnings
from pathlib import Path

import keras
import tensorflow as tf

from keras_seqattn import manifest
from keras_seqattn.checks import nearest
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.decoding.search import Search
from keras_seqattn.decoding.shortlist import Shortlist
from keras_seqattn.errors import abbreviated, four_part_error, four_parts
from keras_seqattn.files import replacing_folder
from keras_seqattn.models.checkpoint import without_optimizer
from keras_seqattn.safe_reading import VOCABULARY, parse_json, read_bytes
from keras_seqattn.shipped_models import (
    resolve_path,
    shipped_folders,
    shipped_names,
)
from keras_seqattn.text.processor import TextProcessor
from keras_seqattn.translator.known_names import load_registered
from keras_seqattn.translator.model_file import load_model
from keras_seqattn.translator.unsafe_file import UnsafeFile

VERSION = 1
_OPTIONS = {"search", "max_length", "max_source", "unknown"}
_FILE, _MODEL, _SHORTLIST = "translator.json", "model.keras", "shortlist.npz"
_NAMES = (_FILE, _MODEL, _SHORTLIST, "source_text", "target_text", manifest.NAME)


def save(path, model, texts, options, shortlist=None):
    """Write the folder completely or not at all; it replaces an older translator.

    Args:
        path: path of the folder.
        model: a Keras model.
        texts: dict from "source" and "target" to processors. Without "target", the
            source's processor serves both sides.
        options: dict of values that JSON can hold.
        shortlist: `Shortlist`, or None.
    """
    if not isinstance(model, keras.Model):
        raise four_part_error(
            "Translator cannot save this model",
            "a Keras model, e.g. Seq2Seq",
            f"{type(model).__name__}",
            "Save the models of an ensemble one by one, or export the translator",
        )
    with replacing_folder(path, "Translator.save", "translator", _NAMES) as folder:
        with without_optimizer(model):  # it would take two thirds of the file
            model.save(f"{folder}/{_MODEL}")
        for side, text in texts.items():
            text.save(f"{folder}/{side}_text")
        if shortlist is not None:
            shortlist.save(f"{folder}/{_SHORTLIST}")
        content = {
            "version": VERSION,
            "made_with": {"keras": keras.__version__, "tensorflow": tf.__version__},
            **options,
        }
        with open(f"{folder}/{_FILE}", "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2, ensure_ascii=False)
            file.write("\n")
        manifest.write(folder, {})


def load(path):
    """Return the model, processors by side, options and shortlist of a folder.

    Args:
        path: path of the folder, or the name of a shipped model.
    """
    path = os.fspath(resolve_path(_as_path(path)))
    verified = {}
    if os.path.lexists(f"{path}/{manifest.NAME}"):  # older folders have none
        verified = manifest.verify(path, "Translator.load")["files"]
    content = _content(path)
    unverified = [name for name in _files(path) if name not in verified]
    if unverified:
        message = four_parts(
            "Translator.load cannot check whether files are damaged",
            f"their checksums in {manifest.NAME}",
            f"none of {unverified} in {path!r}",
            "Copy the folder again; if an older release has written it, save the "
            "translator again",
        )
        warnings.warn(message, stacklevel=3)
    content["search"] = _option(path, content, "search", Search)
    if isinstance(content["max_length"], dict):  # otherwise it is a number
        content["max_length"] = _option(path, content, "max_length", RelativeLength)
    model = load_model("Translator.load", f"{path}/{_MODEL}", _MODEL in verified)
    texts = {"source": TextProcessor.load(f"{path}/source_text")}
    if os.path.exists(f"{path}/target_text"):
        texts["target"] = TextProcessor.load(f"{path}/target_text")
    shortlist = None
    if os.path.exists(f"{path}/{_SHORTLIST}"):
        shortlist = Shortlist.load(f"{path}/{_SHORTLIST}")
    return model, texts, content, shortlist


def _as_path(path):
    try:
        return os.fspath(path)
    except TypeError:
        raise four_part_error(
            "Translator.load got an unusable path",
            "the path of a folder, or the name of a shipped model",
            abbreviated(path),
            f"Pass a folder of Translator.save, or one of {shipped_names()}",
        ) from None


def _files(path):
    """Return the names of a translator's files, relative and with "/"."""
    names = [name for name in (_FILE, _MODEL, _SHORTLIST) if Path(path, name).exists()]
    texts = sorted(Path(path).glob("*_text/[!.]*"))
    return names + [text.relative_to(path).as_posix() for text in texts]


def _option(path, content, name, base):
    """Return an option whose class is registered and a subclass of `base`."""
    try:
        return load_registered(content[name], base)
    except UnsafeFile as error:
        raise four_part_error(
            f"Translator.load cannot read {name} in {path}/{_FILE}",
            f"a {base.__name__}",
            f"an unusable value ({error})",
            "Import your own classes first, or copy the folder again",
        ) from error


def _content(path):
    try:  # `unknown` may be a large dictionary
        content = read_bytes("Translator.load", f"{path}/{_FILE}", VOCABULARY)
    except (FileNotFoundError, NotADirectoryError):
        raise _not_found(path) from None
    try:
        content = parse_json(content)
        version = content.get("version")
    except (ValueError, AttributeError):
        raise four_part_error(
            f"Translator.load cannot read {path}/{_FILE}",
            "JSON",
            "a damaged file",
            "Copy the folder again, or save the translator again",
        ) from None
    if version != VERSION:
        raise four_part_error(
            "Translator.load cannot read this version of the format",
            f"version {VERSION}",
            f"{version!r} in {path!r}",
            "Load it with the release of keras_seqattn that has saved it",
        )
    missing = sorted(_OPTIONS - content.keys())
    if missing:
        raise four_part_error(
            f"Translator.load found too few options in {path}/{_FILE}",
            f"{sorted(_OPTIONS)}",
            f"a file without {missing}",
            "Copy the folder again, or save the translator again",
        )
    return content


def _not_found(path):
    """Return the error for a path without a translator; the remedy fits the path."""
    place, what = Path(path), ""
    remedy = "Pass a folder of Translator.save"
    if place.is_file():
        what = ", which is a file"
        remedy = "Pass the folder that holds all files of Translator.save"
    elif (place / "translator" / _FILE).exists():
        what = ", which is a run"
        remedy = f"Pass {str(place / 'translator')!r}"
    elif (place / "saved_model.pb").exists():
        what = ", which is a SavedModel"
        remedy = "Load it with tf.saved_model.load, or serve it with seqattn serve"
    elif place.exists():
        what = ", which has no translator"
    elif os.sep not in path and (near := nearest(path, shipped_folders())):
        remedy = f"Use {near!r}, the nearest name"
    return four_part_error(
        "Translator.load found no translator",
        f"a folder with {_FILE}, {_MODEL} and source_text/, or the name of a "
        f"shipped model ({shipped_names()})",
        f"{path!r}{what}",
        remedy,
    )
