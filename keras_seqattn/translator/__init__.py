"""`Translator`: from strings to strings, scores, tokens and alignments."""

from keras_seqattn.translator.default_model import recommended_model
from keras_seqattn.translator.recommendation import Recommendation, recommended
from keras_seqattn.translator.transfer_learning import transfer
from keras_seqattn.translator.translation import Token, Translation, Translations
from keras_seqattn.translator.translator import Translator

__all__ = [
    "Recommendation",
    "Token",
    "Translation",
    "Translations",
    "Translator",
    "recommended",
    "recommended_model",
    "transfer",
]
