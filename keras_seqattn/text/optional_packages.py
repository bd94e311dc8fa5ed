"""Packages that may be absent: imported where they are used, not before."""

from keras_seqattn.errors import four_part_error


def tensorflow_text(owner):
    """The module; it has no wheels for Windows and Intel Macs."""
    try:
        import tensorflow_text
    except ImportError as error:
        raise four_part_error(
            f"{owner} lacks a package",
            "tensorflow-text to be installed",
            f'"{error}"',
            'Call `pip install "tensorflow-text>=2.21.1,<2.22"`; where it has no '
            "wheels (Windows, Intel Macs), Words and Characters with "
            "normalization=None do without",
            kind=ImportError,
        ) from error
    return tensorflow_text


def sentencepiece(owner):
    """The module; only learning needs it."""
    try:
        import sentencepiece
    except ImportError as error:
        raise four_part_error(
            f"{owner} lacks a package",
            "sentencepiece to be installed",
            f'"{error}"',
            'Call `pip install "keras_seqattn[text]"`',
            kind=ImportError,
        ) from error
    return sentencepiece


def sentencepiece_proto(owner):
    """The messages that a model file holds."""
    sentencepiece(owner)
    from sentencepiece import sentencepiece_model_pb2

    return sentencepiece_model_pb2


def word_piece_learner(owner):
    """The learner in the tools of tensorflow-text."""
    tensorflow_text(owner)
    from tensorflow_text.tools.wordpiece_vocab import (
        wordpiece_tokenizer_learner_lib,
    )

    return wordpiece_tokenizer_learner_lib
