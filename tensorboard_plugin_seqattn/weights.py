"""Attention weights, copied from the log into the answer without being parsed."""

import binascii
import math
import zlib

from tensorboard_plugin_seqattn.fields import BrokenRecord, short

ITEM = 2  # bytes of a float16
PICTURE_WEIGHTS = 2**22  # in one hypothesis: four heads of 1000 x 1000
SERIES_BYTES = 2**26  # in one answer: about as much as a browser can hold
DIVERGED = "The model may have diverged: lower the learning rate, or clip the gradients"

# Infinity and NaN have all exponent bits set, whatever the other bits are.
_FINITE = bytes(byte for byte in range(256) if byte & 0x7C != 0x7C)


class WeightReader:
    """Reads the weights of one series, up to a limit.

    Compressed data can become a thousand times as large as in the log. So each blob
    may have only the size that its shape says, and all together `limit` bytes.

    Args:
        limit: largest number of bytes of all weights together.
    """

    def __init__(self, limit=SERIES_BYTES):
        self._limit = self._left = limit

    def read(self, blob, shape, what):
        """Return base64 of `shape` float16 numbers, little-endian, row-major."""
        size = ITEM * math.prod(shape)
        if size > ITEM * PICTURE_WEIGHTS:
            raise BrokenRecord(
                f"{what} is too large to draw",
                f"at most {PICTURE_WEIGHTS} weights",
                f"shape {short(shape)}",
                "Log shorter sentences, or fewer heads",
            )
        self._left -= size  # before unpacking: broken weights cost time, too
        if self._left < 0:
            raise BrokenRecord(
                f"{what} does not fit into the answer",
                f"at most {self._limit >> 20} MB of weights in one series",
                f"shape {shape}",
                "Newer steps are shown. Keep fewer steps: tensorboard "
                "--samples_per_plugin=seq_attention=50",
            )
        raw = _inflate(blob, size, what)
        # Every second byte holds the exponent; those of finite numbers are removed.
        not_finite = len(raw[1::2].translate(None, _FINITE))
        if not_finite:
            raise BrokenRecord(
                f"{what} has weights that are not finite",
                "finite numbers",
                f"{not_finite} NaN or infinite of {size // ITEM}",
                DIVERGED,
            )
        return binascii.b2a_base64(raw, newline=False).decode("ascii")


def _inflate(blob, size, what):
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(blob, size + 1)  # one more, to notice excess data
    except zlib.error:
        raw = b""
    if len(raw) != size or not stream.eof or stream.unused_data:
        raise BrokenRecord(
            f"{what} has weights that do not fit its shape",
            f"{size} bytes, compressed by zlib",
            short(blob),
        )
    return raw
