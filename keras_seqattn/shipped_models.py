"""The trained models that come with the library."""

from pathlib import Path

_PACKAGE = Path(__file__).parent
# In a wheel they are inside the package, in a checkout beside it.
_PLACES = (_PACKAGE / "saved_models", _PACKAGE.parent / "saved_models")


def shipped_folders():
    """Return the folders of all shipped models, by name.

    Each is a folder of `Translator.save`. At the same time it is a model folder of
    TensorFlow Serving, with a SavedModel in the version folder `1`.
    """
    for place in _PLACES:
        cards = sorted(place.glob("*/README.md"))  # other folders are not shipped
        if cards:
            return {card.parent.name: card.parent for card in cards}
    return {}


def resolve_path(path):
    """Return the path if it exists, else the folder of the shipped model of this name.

    Return the path unchanged if there is no such model either.
    """
    if Path(path).exists():
        return path
    return shipped_folders().get(str(path), path)


def shipped_names():
    """Return the names of all shipped models as one string, for messages."""
    return ", ".join(shipped_folders()) or "none"
