"""A translator in a folder: the model, the text processors, how it searches."""

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
from keras_seqattn.errors import four_part_error
from keras_seqattn.files import replacing_folder
from keras_seqattn.models.checkpoint import without_optimizer
from keras_seqattn.safe_reading import VOCABULARY, parse_json, read_bytes
from keras_seqattn.shipped_models import names
from keras_seqattn.text.processor import TextProcessor
from keras_seqattn.translator.known_names import registered
from keras_seqattn.translator.model_file import load_model

VERSION = 1
_OPTIONS = {"search", "max_length", "max_source", "unknown"}
_FILE, _MODEL, _SHORTLIST = "translator.json", "model.keras", "shortlist.npz"
_NAMES = (_FILE, _MODEL, _SHORTLIST, "source_text", "target_text", manifest.NAME)


def save(path, model, texts, options, shortlist=None):
    """Writes the folder as a whole or not at all; an older translator is replaced.

    Args:
        path: of the folder.
        model: a Keras model.
        texts: by side, the processors; one that serves both is written once.
        options: by name, what JSON or Keras can serialise.
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
        with without_optimizer(model):  # it would be two thirds of the file
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
    """Model, processors by side, options, shortlist; all as it was written."""
    path = os.fspath(path)
    checked = {}
    if os.path.lexists(f"{path}/{manifest.NAME}"):  # older folders have none
        checked = manifest.verify(path, "Translator.load")["files"]
    content = _content(path)
    unchecked = [name for name in _files(path) if name not in checked]
    if unchecked:
        warnings.warn(
            "Translator.load cannot check whether files are damaged. Expected their "
            f"checksums in {manifest.NAME}, received none of {unchecked} in {path!r}. "
            "Copy the folder again; if it is an older one, save the translator anew.",
            stacklevel=3,
        )
    content["search"] = _object(path, content, "search", Search)
    if isinstance(content["max_length"], dict):  # else a number
        content["max_length"] = _object(path, content, "max_length", RelativeLength)
    model = load_model("Translator.load", f"{path}/{_MODEL}", _MODEL in checked)
    texts = {"source": TextProcessor.load(f"{path}/source_text")}
    if os.path.exists(f"{path}/target_text"):
        texts["target"] = TextProcessor.load(f"{path}/target_text")
    shortlist = None
    if os.path.exists(f"{path}/{_SHORTLIST}"):
        shortlist = Shortlist.load(f"{path}/{_SHORTLIST}")
    return model, texts, content, shortlist


def _files(path):
    """Names of the files of a translator, relative and with "/"."""
    found = [name for name in (_FILE, _MODEL, _SHORTLIST) if Path(path, name).exists()]
    texts = sorted(Path(path).glob("*_text/[!.]*"))
    return found + [text.relative_to(path).as_posix() for text in texts]


def _object(path, content, name, kind):
    """The value of an option, of a class that is registered as one of its kind."""
    try:
        return registered(content[name], kind)
    except ValueError as error:
        raise four_part_error(
            f"Translator.load cannot read {name} in {path}/{_FILE}",
            f"a {kind.__name__}",
            error,
            "Import your own classes first; if they are all known, copy the folder "
            "again",
        ) from error


def _content(path):
    try:  # `unknown` may be a large dictionary
        content = read_bytes("Translator.load", f"{path}/{_FILE}", VOCABULARY)
    except (FileNotFoundError, NotADirectoryError):
        raise four_part_error(
            "Translator.load found no translator",
            f"a folder with {_FILE}, {_MODEL} and source_text/, or the name of a "
            f"shipped model ({names()})",
            repr(path),
            "Pass the folder that Translator.save has written",
        ) from None
    try:
        content = parse_json(content)
        version = content.get("version")
    except (ValueError, AttributeError):
        raise four_part_error(
            f"Translator.load cannot read {path}/{_FILE}",
            "JSON",
            "a damaged file",
            "Copy the folder again, or save the translator anew",
        ) from None
    if version != VERSION:
        raise four_part_error(
            "Translator.load got a folder of another format",
            f"version {VERSION}",
            f"{version!r} in {path!r}",
            "Load it with the release of keras_seqattn that has written it",
        )
    missing = sorted(_OPTIONS - content.keys())
    if missing:
        raise four_part_error(
            f"Translator.load misses something in {path}/{_FILE}",
            f"{sorted(_OPTIONS)}",
            f"a file without {missing}",
            "Copy the folder again, or save the translator anew",
        )
    return content
