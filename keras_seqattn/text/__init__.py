"""Text processors: strings to token ids and back, inside the TensorFlow graph."""

from keras_seqattn.text.characters import Characters
from keras_seqattn.text.hub_tokenizer import HubTokenizer
from keras_seqattn.text.processor import TextProcessor
from keras_seqattn.text.sentence_piece import SentencePiece
from keras_seqattn.text.terminal_heat_map import heat_map
from keras_seqattn.text.vector_file import word_vectors
from keras_seqattn.text.word_piece import WordPiece
from keras_seqattn.text.words import Words

__all__ = [
    "Characters",
    "HubTokenizer",
    "SentencePiece",
    "TextProcessor",
    "WordPiece",
    "Words",
    "heat_map",
    "word_vectors",
]
