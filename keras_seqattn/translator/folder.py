"""Saves a translator in a folder: the model, the text processors, the options."""

import json
import os
import warnings
from pathlib import Path

import keras
import tensorflow as tf

from keras_seqattn import manifest
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.decoding.search import Search
from keras_seqattn.decoding.shortlist import Shortlist
from keras_seqattn.errors import four_part_error, four_parts
from keras_seqattn.files import replacing_folder
from keras_seqattn.models.checkpoint import without_optimizer
from keras_seqattn.safe_reading import VOCABULARY, parse_json, read_bytes
from keras_seqattn.shipped_models import shipped_names
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
    """Return the model, processors by side, options and shortlist of a folder."""
    path = os.fspath(path)
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
        raise four_part_error(
            "Translator.load found no translator",
            f"a folder with {_FILE}, {_MODEL} and source_text/, or the name of a "
            f"shipped model ({shipped_names()})",
            repr(path),
            "Pass a folder of Translator.save",
        ) from None
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
