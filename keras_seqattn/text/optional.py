"""Packages that may be absent: imported where they are used, not before."""


def tensorflow_text(owner):
    """The module; it has no wheels for Windows and Intel Macs."""
    try:
        import tensorflow_text
    except ImportError as error:
        raise ImportError(
            f"{owner} lacks a package. Expected tensorflow-text to be installed, "
            f'received "{error}". Call `pip install "tensorflow-text>=2.21.1,<2.22"`; '
            "where it has no wheels (Windows, Intel Macs), Words and Characters with "
            "normalization=None do without."
        ) from error
    return tensorflow_text


def sentencepiece(owner):
    """The module; only learning needs it."""
    try:
        import sentencepiece
    except ImportError as error:
        raise ImportError(
            f"{owner} lacks a package. Expected sentencepiece to be installed, "
            f'received "{error}". Call `pip install "keras_seqattn[text]"`.'
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
