"""Optional packages, imported when they are used and not before."""

from keras_seqattn.errors import missing_package

TENSORFLOW_TEXT = "tensorflow-text>=2.21.1,<2.22"  # as in pyproject.toml


def tensorflow_text(owner):
    """Return the module; it has no wheels for Windows and Intel Macs."""
    try:
        import tensorflow_text
    except ImportError as error:
        raise missing_package(
            owner,
            "tensorflow-text",
            error,
            requirement=TENSORFLOW_TEXT,
            otherwise="on Windows and Intel Macs, where it has no wheels, use Words or "
            "Characters with normalization=None",
        ) from error
    return tensorflow_text


def sentencepiece(owner):
    """Return the module; only learning needs it."""
    try:
        import sentencepiece
    except ImportError as error:
        raise missing_package(owner, "sentencepiece", error, extra="text") from error
    return sentencepiece


def sentencepiece_proto(owner):
    """Return the module with the protocol buffer messages of a model file."""
    sentencepiece(owner)
    from sentencepiece import sentencepiece_model_pb2

    return sentencepiece_model_pb2


def word_piece_learner(owner):
    """Return the module with tensorflow-text's WordPiece learner."""
    tensorflow_text(owner)
    from tensorflow_text.tools.wordpiece_vocab import (
        wordpiece_tokenizer_learner_lib,
    )

    return wordpiece_tokenizer_learner_lib
