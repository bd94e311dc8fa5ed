"""Checks of a SentencePiece model and of its options."""

import math

import tensorflow as tf

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.text.checks import SPECIAL

OWNER = "SentencePiece"


def read_vocabulary(library, model):
    """Return the pieces of a model; check that the special ones come first."""
    if not isinstance(model, bytes):
        raise four_part_error(
            f"{OWNER} got an unusable model",
            "bytes",
            abbreviated(model),
            "Pass the content of the file, e.g. Path(path).read_bytes()",
        )
    try:
        tokenizer = library.SentencepieceTokenizer(model, out_type=tf.int32)
        pieces = tokenizer.id_to_string(tf.range(tokenizer.vocab_size()))
    except tf.errors.OpError as error:
        raise four_part_error(
            f"{OWNER} got a corrupted model",
            "the bytes of a SentencePiece model",
            f"{len(model)} bytes that cannot be read",
            "Check the file: it may be truncated, or not a SentencePiece model",
        ) from error
    vocabulary = [piece.decode() for piece in pieces.numpy()]
    if tuple(vocabulary[: len(SPECIAL)]) != SPECIAL:
        raise four_part_error(
            f"{OWNER} got a model with other special tokens",
            f"{list(SPECIAL)} at the start",
            f"{vocabulary[: len(SPECIAL)]}",
            "Use SentencePiece.learn, or the trainer with pad_id=0, bos_id=1, "
            "eos_id=2, unk_id=3",
        )
    return vocabulary


def check_sampling(nbest_size, alpha):
    """Check the options of random segmentation."""
    is_count = type(nbest_size) is int and (nbest_size == -1 or nbest_size > 1)
    if not is_count:
        raise four_part_error(
            f"{OWNER} got an unusable nbest_size",
            "-1 (all) or 2 or more",
            f"nbest_size={abbreviated(nbest_size)}",
            "Call encode without sample to draw no random segmentation",
        )
    number = isinstance(alpha, (int, float)) and not isinstance(alpha, bool)
    if not number or not math.isfinite(alpha) or alpha < 0:
        raise four_part_error(
            f"{OWNER} got an unusable alpha",
            "a number, 0 or more",
            f"alpha={abbreviated(alpha)}",
            "Use e.g. 0.1",
        )
