"""How much a client may ask for, and how long it may take."""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Limits:
    """What keeps one client from being in everybody's way.

    Args:
        batch: rows that are computed at once, of one request or of several; the most
            that one request may have.
        wait_ms: milliseconds that a request waits for others to share a batch with.
        timeout: seconds until a request is given up.
        max_body: bytes of a request.
        max_text: characters of one text.
        queue: rows that may wait for their batch.
    """

    batch: int = 64
    wait_ms: float = 5.0
    timeout: float = 30.0
    max_body: int = 1_000_000
    max_text: int = 5_000
    queue: int = 1_024

    def __post_init__(self):
        for name in ("batch", "max_body", "max_text", "queue"):
            _check(name, getattr(self, name), int, 1, "an integer, 1 or more")
        _check("wait_ms", self.wait_ms, (int, float), 0, "a number, 0 or more")
        _check("timeout", self.timeout, (int, float), 0.001, "a number above 0")
        if self.queue < self.batch:
            raise ValueError(
                "serve got a queue shorter than a batch. Expected queue >= batch, "
                f"received queue={self.queue} and batch={self.batch}. Raise the one or "
                "lower the other."
            )


def _check(name, value, kind, least, expected):
    number = isinstance(value, kind) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < least:
        raise ValueError(
            f"serve got an unusable {name}. Expected {expected}, received "
            f"{name}={value!r}. Leave it out for the usual one."
        )
