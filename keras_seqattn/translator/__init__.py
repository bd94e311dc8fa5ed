"""`Translator`: from strings to strings, scores, tokens and alignments."""

from keras_seqattn.translator.translation import Token, Translation, Translations
from keras_seqattn.translator.translator import Translator

__all__ = [
    "Token",
    "Translation",
    "Translations",
    "Translator",
]
