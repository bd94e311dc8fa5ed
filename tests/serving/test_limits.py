"""Checks of the limits of a server."""

import pytest

from keras_seqattn.serving.limits import Limits

COUNTS = ["batch", "max_body", "max_text", "queue", "max_cells", "max_connections"]


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [0, -1, 2.0, True, "64", None])
def test_counts(name, value):
    with pytest.raises(ValueError) as caught:
        Limits(**{name: value})
    assert str(caught.value) == (
        f"serve got an unusable {name}. Expected a positive integer, received "
        f"{name}={value!r}. Pass a Python int, 1 or more."
    )


@pytest.mark.parametrize(
    "name, value, expected",
    [
        ("wait_ms", -1, "a number, 0 or more"),
        ("wait_ms", float("nan"), "a number, 0 or more"),
        ("timeout", 0, "a number, 0.001 or more"),
        ("timeout", float("inf"), "a number, 0.001 or more"),
    ],
)
def test_times(name, value, expected):
    with pytest.raises(ValueError) as caught:
        Limits(**{name: value})
    assert str(caught.value) == (
        f"serve got an unusable {name}. Expected {expected}, received {name}={value!r}"
        ". Leave it out to use the default."
    )


def test_a_queue_shorter_than_a_batch():
    with pytest.raises(ValueError) as caught:
        Limits(batch=8, queue=7)
    assert str(caught.value) == (
        "serve got a queue shorter than a batch. Expected queue >= batch, received "
        "queue=7 and batch=8. Raise --queue or lower --batch."
    )


def test_what_is_allowed():
    counts = dict.fromkeys(COUNTS, 1)
    assert Limits(wait_ms=0, timeout=0.5, **counts).max_cells_at_once == 1
    assert Limits(batch=2, queue=7, max_cells=10).max_cells_at_once == 30
