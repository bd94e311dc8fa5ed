"""A small request cannot ask for a huge computation."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from keras_seqattn.serving.computation_size import LengthBounds, cell_count, padded_size
from tests.serving.test_batches import at_once, half_asked, until
from tests.serving.thread import serving

RELATIVE = {"class": "RelativeLength", "times": 2.0, "plus": 10, "at_most": None}


def array(*texts):
    return np.array([text.encode() for text in texts], object)


@pytest.mark.parametrize(
    "manifest, text, expected",
    [
        ({}, "abc", (4, 4)),
        ({"max_length": RELATIVE}, "abc", (4, 18)),
        ({"max_length": {**RELATIVE, "at_most": 7}}, "abc", (4, 7)),
        ({"max_length": {**RELATIVE, "times": 0.3, "plus": 0}}, "abc", (4, 2)),
        ({"max_length": 50}, "abc", (4, 50)),
        ({"max_source": 2, "max_length": RELATIVE}, "abc", (3, 16)),
        ({}, "", (1, 1)),
        ({}, "ä", (3, 3)),  # bytes
        ({}, "\ufdfa", (34, 34)),  # NFKC makes 18 letters of this one
    ],
)
def test_lengths_of_a_text(manifest, text, expected):
    assert LengthBounds.of(manifest).lengths({"text": array("", text)}) == expected


def test_lengths_of_other_inputs():
    bounds = LengthBounds.of({"max_source": 5, "max_length": RELATIVE})
    pair = {"source": array("ab", "abc"), "target": array("", "abcdefghi")}
    assert bounds.lengths(pair) == (4, 6)
    assert bounds.lengths({"x": np.zeros(3)}) == (1, 1)
    assert bounds.lengths({"text": array()}) == (1, 1)


def test_bytes_that_are_no_text():
    assert LengthBounds().lengths({"text": np.array([b"\xff\xfe"], object)}) == (7, 7)


def test_a_batch_is_padded_to_its_longest():
    long = SimpleNamespace(rows=1, lengths=(100, 10))
    wide = SimpleNamespace(rows=3, lengths=(5, 50))
    assert cell_count(long) == 1000 and cell_count(wide) == 750
    assert padded_size(padded_size((0, 0, 0), long), wide) == (4, 100, 50)


@pytest.mark.system
@pytest.mark.parametrize("by_row", [True, False])
def test_a_huge_answer_is_refused(client, by_row):
    """64 texts of 300 letters; of 1000 without --max-text of this server."""
    pair = {"source": "a" * 300, "target": "b" * 299}
    columns = {name: [text] * 64 for name, text in pair.items()}
    asked = {"instances": [pair] * 64} if by_row else {"inputs": columns}
    computed = client.metrics().get(("seqattn_batch_rows_count", ("score",)))
    assert client.refused(status=413, signature_name="score", **asked) == (
        "The computation of this request is too large. Expected rows x longest source "
        "x longest target in tokens of at most 4000000, received 64 x 301 x 300, if "
        "every byte is a token. Send fewer texts in one request, send long texts "
        "alone, or start the server with a larger --max-cells."
    )
    assert client.metrics().get(("seqattn_batch_rows_count", ("score",))) == computed


@pytest.mark.system
@pytest.mark.parametrize(
    "name", ["serving_default", "translate_with_attention", "nbest", "encode"]
)
def test_signatures_with_a_target(client, name):
    """`encode` has no target, so its work does not grow with the product."""
    status = 200 if name == "encode" else 413
    body = {"signature_name": name, "instances": ["a" * 300] * 64}
    reply = client.post(json.dumps(body).encode())
    assert reply.status == status


@pytest.mark.system
def test_usual_requests_pass(client):
    """64 sentences of 200 letters."""
    sentence = ("abc defg " * 30)[:200]
    pair = {"source": sentence, "target": sentence}
    answer = client.ask(signature_name="score", instances=[pair] * 64)
    assert len(answer["predictions"]) == 64
    assert len(client.ask(instances=[sentence] * 64)["predictions"]) == 64


def test_shared_batches_are_limited_too(odd, monkeypatch):
    """Three texts of 400 bytes fit together, and five do not."""
    picky = odd.signatures["picky"]
    monkeypatch.setattr(picky, "_bounds", LengthBounds())
    with serving(odd, wait_ms=300, max_cells=500_000) as client:
        asked = {"signature_name": "picky", "instances": ["a" * 400]}
        found = at_once([lambda: client.ask(**asked)] * 5)
        assert found == [{"predictions": ["a" * 400 + "!"]}] * 5
        counts = client.metrics()
        assert counts["seqattn_batch_rows_bucket", ("4.0", "picky")] >= 2
        assert counts["seqattn_batch_rows_count", ("picky",)] >= 2


def test_all_requests_together_are_limited(odd, monkeypatch):
    monkeypatch.setattr(odd.signatures["wait"], "lengths", lambda inputs: (10, 10))
    with serving(odd, max_cells=150, batch=1, queue=1) as client:
        asked = {"signature_name": "wait", "inputs": [60.0]}
        with half_asked(client, asked):
            until(
                client, lambda found: found.get(("seqattn_batch_rows_sum", ("wait",)))
            )
            said = client.refused(status=503, **asked)
        assert said == (
            "The server is overloaded. Expected at most 150 rows x source x target in "
            "all running requests, received 100 while 100 are running. Try again in a "
            "second."
        )
        assert client.ask(instances=[1.0]) == {"predictions": [0.5]}
