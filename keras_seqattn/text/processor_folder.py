"""The folder of a saved text processor: its options and its vocabulary."""

import json
from pathlib import Path

from keras_seqattn.errors import four_part_error
from keras_seqattn.files import replacing
from keras_seqattn.safe_reading import (
    JSON,
    VOCABULARY,
    in_one_line,
    parse_json,
    read_bytes,
)

OPTIONS = "text.json"


def save(processor, folder):
    """Write `text.json` and the vocabulary."""
    folder = Path(folder)
    with replacing(folder / processor.vocabulary_file) as part:
        part.write_bytes(processor._to_bytes())
    options = {
        "class_name": type(processor).__name__,
        "config": processor.get_config(),
        "vocabulary_size": processor.vocabulary_size,
    }
    text = json.dumps(options, indent=2, ensure_ascii=False) + "\n"
    with replacing(folder / OPTIONS) as part:
        part.write_text(text, encoding="utf-8")


def load(base, folder):
    """Load a processor: an object of `base` or of a subclass."""
    folder = Path(folder)
    options = _options(base, folder / OPTIONS)
    cls = _class(base, options["class_name"], folder / OPTIONS)
    path = folder / cls.vocabulary_file
    data = _read(base, path, VOCABULARY)
    try:
        processor = cls._from_bytes(data, options["config"])
    except ImportError:  # a package is missing: the files are right
        raise
    except Exception as error:  # of any kind: the files may hold anything
        reason = in_one_line(error).rstrip(".")
        raise four_part_error(
            f"{base.__name__}.load got an unusable folder",
            f"a {path.name} that fits its {OPTIONS}",
            f"from {str(folder)!r}: {reason}",
            "Check whether the files were changed, or save the processor again",
        ) from error
    size = options["vocabulary_size"]
    if processor.vocabulary_size != size:
        raise four_part_error(
            f"{base.__name__}.load got a changed vocabulary",
            f"{in_one_line(repr(size))} tokens, as {OPTIONS} says",
            f"{processor.vocabulary_size} from {str(path)!r}",
            "Save the processor again: the ids of a model belong to one vocabulary",
        )
    return processor


def _read(base, path, most):
    try:
        return read_bytes(f"{base.__name__}.load", path, most)
    except (FileNotFoundError, NotADirectoryError):
        inner = path.parent / "source_text"
        remedy = "Check the path"
        if inner.exists():  # the folder of a translator
            remedy = f"Pass {str(inner)!r}, or load all with Translator.load"
        raise four_part_error(
            f"{base.__name__}.load did not find a file",
            f"{path.name} in a folder written by save",
            f"{str(path.parent)!r}",
            remedy,
            kind=FileNotFoundError,
        ) from None


def _options(base, path):
    content = _read(base, path, JSON)
    try:
        options = parse_json(content)
        if set(options) == {"class_name", "config", "vocabulary_size"}:
            return options
        received = f"the keys {sorted(options)}"
    except (TypeError, ValueError) as error:
        received = f"{type(error).__name__}: {error}"
    raise four_part_error(
        f"{base.__name__}.load got an unusable {path.name}",
        "JSON with class_name, config and vocabulary_size",
        f"{received} in {str(path)!r}",
        "Save the processor again",
    )


def _class(base, name, path):
    complete = (cls for cls in _family(base) if hasattr(cls, "_tokenize"))
    classes = {cls.__name__: cls for cls in complete}
    if not isinstance(name, str) or name not in classes:
        raise four_part_error(
            f"{base.__name__}.load got an unknown class",
            f"one of {sorted(classes)}",
            f"{name!r} from {str(path)!r}",
            "Call TextProcessor.load for any class; import the module of a custom "
            "class first",
        )
    return classes[name]


def _family(cls):
    """Yield a class and all its subclasses."""
    yield cls
    for child in cls.__subclasses__():
        yield from _family(child)
