"""How much a client may ask for, and how long it may take."""

import dataclasses
import math

from keras_seqattn.errors import four_part_error


@dataclasses.dataclass(frozen=True)
class Limits:
    """Bounds that keep one client from slowing down the others.

    Args:
        batch: rows that are computed at once, of one request or of several; the most
            that one request may have.
        wait_ms: milliseconds that a request waits for others to share a batch with.
        timeout: seconds until a request is given up: for its head, for its body, for
            computing its answer, and for sending it.
        max_body: bytes of a request.
        max_text: characters of one text.
        queue: rows that may wait for their batch.
        max_cells: rows x longest source x longest target of a batch, in tokens, where
            the bytes of a text count as its tokens. A model computes a number for each.
        max_connections: connections that are open at once.
    """

    batch: int = 64
    wait_ms: float = 5.0
    timeout: float = 30.0
    max_body: int = 1_000_000
    max_text: int = 5_000
    queue: int = 1_024
    max_cells: int = 4_000_000
    max_connections: int = 512

    @property
    def max_cells_at_once(self):
        """Cells of all requests that wait, are computed or are being sent.

        As many as fill the queue with the largest batches.
        """
        return self.max_cells * (self.queue // self.batch)

    def __post_init__(self):
        counts = "batch", "max_body", "max_text", "queue", "max_cells"
        for name in (*counts, "max_connections"):
            _check(name, getattr(self, name), int, 1, "an integer, 1 or more")
        _check("wait_ms", self.wait_ms, (int, float), 0, "a number, 0 or more")
        _check("timeout", self.timeout, (int, float), 0.001, "a number above 0")
        if self.queue < self.batch:
            raise four_part_error(
                "serve got a queue shorter than a batch",
                "queue >= batch",
                f"queue={self.queue} and batch={self.batch}",
                "Raise the one or lower the other",
            )


def _check(name, value, kind, least, expected):
    number = isinstance(value, kind) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < least:
        raise four_part_error(
            f"serve got an unusable {name}",
            expected,
            f"{name}={value!r}",
            "Leave it out for the usual one",
        )
