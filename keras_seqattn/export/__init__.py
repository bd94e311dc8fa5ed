"""Exported translators: SavedModels and LiteRT files, which run without Python."""

from keras_seqattn.export.litert_run import litert_function
from keras_seqattn.manifest import verify

__all__ = [
    "litert_function",
    "verify",
]
