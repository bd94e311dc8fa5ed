"""Strings in; strings, scores, tokens and alignments out."""

from keras_seqattn.translator.translation import Token, Translation, Translations
from keras_seqattn.translator.translator import Translator

__all__ = [
    "Token",
    "Translation",
    "Translations",
    "Translator",
]
