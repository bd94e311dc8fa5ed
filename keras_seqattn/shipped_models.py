"""The trained models that come with the library, by name."""

from pathlib import Path

_PACKAGE = Path(__file__).parent
# In a wheel they are inside the package, in a checkout beside it.
_PLACES = (_PACKAGE / "saved_models", _PACKAGE.parent / "saved_models")


def shipped():
    """The folders of all of them, by name.

    Such a folder is at once one of `Translator.save`, and one that TensorFlow Serving
    serves, with a SavedModel in `1`.
    """
    for place in _PLACES:
        cards = sorted(place.glob("*/README.md"))  # what is made locally has no card
        if cards:
            return {card.parent.name: card.parent for card in cards}
    return {}


def named(path):
    """The folder of a shipped model, if nothing of one's own has that name."""
    if Path(path).exists():
        return path
    return shipped().get(str(path), path)


def names():
    """The names in words, for an error."""
    return ", ".join(shipped()) or "none"
