"""Limits for the requests of one server."""

import dataclasses
import math

from keras_seqattn.checks import check_count
from keras_seqattn.errors import four_part_error


@dataclasses.dataclass(frozen=True)
class Limits:
    """Bounds that keep one client from slowing down the others.

    Args:
        batch: greatest number of rows in one batch, and in one request.
        wait_ms: milliseconds that a request waits for others to share its batch.
        timeout: seconds after which a request fails. Each stage has this time: the
            headers, the body, the computation, and sending the answer.
        max_body: bytes of a request.
        max_text: characters of one text.
        queue: greatest number of rows that wait for their batch.
        max_cells: rows x longest source x longest target of a batch, in tokens, where
            the bytes of a text count as its tokens. A model computes a number for each.
        max_connections: greatest number of open connections.
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
        """The greatest number of cells of all requests together.

        Requests count while they wait, while they are computed, and while their answers
        are sent. This bound is the size of a queue that is full of the largest batches.
        """
        return self.max_cells * (self.queue // self.batch)

    def __post_init__(self):
        counts = "batch", "max_body", "max_text", "queue", "max_cells"
        for name in (*counts, "max_connections"):
            check_count("serve", name, getattr(self, name))
        _check_number("wait_ms", self.wait_ms, 0, "a number, 0 or more")
        _check_number("timeout", self.timeout, 0.001, "a number, 0.001 or more")
        if self.queue < self.batch:
            raise four_part_error(
                "serve got a queue shorter than a batch",
                "queue >= batch",
                f"queue={self.queue} and batch={self.batch}",
                "Raise --queue or lower --batch",
            )


def _check_number(name, value, least, expected):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < least:
        raise four_part_error(
            f"serve got an unusable {name}",
            expected,
            f"{name}={value!r}",
            "Leave it out to use the default",
        )
