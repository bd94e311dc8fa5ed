"""Attention weights: out of the log, into the answer, never as numbers in between."""

import binascii
import math
import zlib

from tensorboard_plugin_seqattn.fields import BrokenRecord, short

ITEM = 2  # bytes of a float16
PICTURE_WEIGHTS = 2**22  # in one hypothesis: four heads of 1000 x 1000
SERIES_BYTES = 2**26  # in one answer: more than a browser likes to hold
DIVERGED = (
    "The model may have diverged: lower the learning rate, or clip the gradients."
)

# Sign and upper mantissa bits are free where all exponent bits are set: infinity, NaN.
_FINITE = bytes(byte for byte in range(256) if byte & 0x7C != 0x7C)


class WeightReader:
    """Reads the weights of one series, up to a limit.

    What is compressed can be a thousand times as large as the log, so that each blob
    is given the room that its shape says, and all together `limit` bytes.

    Args:
        limit: bytes of all weights together.
    """

    def __init__(self, limit=SERIES_BYTES):
        self._limit = self._left = limit

    def read(self, blob, shape, what):
        """base64 of `shape` float16, little-endian, row-major."""
        size = ITEM * math.prod(shape)
        if size > ITEM * PICTURE_WEIGHTS:
            raise BrokenRecord(
                f"{what} is too large to draw",
                f"at most {PICTURE_WEIGHTS} weights",
                f"shape {short(shape)}",
                "Log shorter sentences, or fewer heads.",
            )
        self._left -= size  # before it is unpacked: what is broken costs time, too
        if self._left < 0:
            raise BrokenRecord(
                f"{what} does not fit into the answer any more",
                f"at most {self._limit >> 20} MB of weights in one series",
                f"shape {shape}",
                "Newer steps are shown. Keep fewer: tensorboard "
                "--samples_per_plugin=seq_attention=50.",
            )
        raw = _inflate(blob, size, what)
        # Every second byte holds the exponent: left is what is not finite.
        strange = len(raw[1::2].translate(None, _FINITE))
        if strange:
            raise BrokenRecord(
                f"{what} has weights that are no numbers",
                "finite ones",
                f"{strange} NaN or infinite of {size // ITEM}",
                DIVERGED,
            )
        return binascii.b2a_base64(raw, newline=False).decode("ascii")


def _inflate(blob, size, what):
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(blob, size + 1)  # one more, to see that it is too much
    except zlib.error:
        raw = b""
    if len(raw) != size or not stream.eof or stream.unused_data:
        raise BrokenRecord(
            f"{what} has weights that do not fit its shape",
            f"{size} bytes, compressed by zlib",
            short(blob),
        )
    return raw
