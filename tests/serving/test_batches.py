"""Requests that arrive together share a batch, and none computes too much."""

import contextlib
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from keras_seqattn import manifest
from keras_seqattn.serving import batch_queue, server
from keras_seqattn.serving.limits import Limits
from keras_seqattn.serving.model import ServedModel
from keras_seqattn.serving.signature import LengthBounds, cell_count, padded_size
from tests.raised import check_message
from tests.serving.client import at_once, read_all, until
from tests.serving.servers import serving


@pytest.mark.system
def test_answers_are_those_of_single_requests(client):
    texts = [f"abc {'defgh é' * (n % 7)}{n}" for n in range(24)]
    single = [client.ask(instances=[text])["predictions"] for text in texts]
    before = client.batches()
    found = at_once([partial(client.ask, instances=[text]) for text in texts])
    batches, rows = np.subtract(client.batches(), before)
    for [one], answer in zip(single, found, strict=True):
        [row] = answer["predictions"]
        assert row["text"] == one["text"]
        assert row["score"] == pytest.approx(one["score"], rel=1e-5)
    assert rows == 24 > batches


@pytest.mark.system
def test_outputs_as_wide_as_their_batch_are_not_shared(client):
    texts = ["a", "abcdefgh" * 9] * 6
    ask = partial(client.ask, signature_name="translate_with_attention")
    calls = [partial(ask, instances=[text]) for text in texts]
    assert at_once(calls) == [call() for call in calls]


@pytest.mark.parametrize(
    ("seed", "more", "is_shared"),
    [(None, {}, True), (0, {}, False), (None, {"shortlist": {"size": 9}}, False)],
)
def test_a_seed_or_a_shortlist_is_not_shared(versions, tmp_path, seed, more, is_shared):
    """Equal seeds draw the same for a row in the same place of a batch alone."""
    copy = shutil.copytree(versions / "1", tmp_path / "copy")
    manifest.write(copy, {"search": {"class": "Sample", "seed": seed}, **more})
    assert ServedModel(copy).signatures["serving_default"].is_shared == is_shared


def test_rows_of_several_requests(odd):
    with serving(odd, wait_ms=500, batch=8) as client:
        sizes = [1, 3, 2, 5, 4, 1, 6]
        asked = [list(range(100 * i, 100 * i + n)) for i, n in enumerate(sizes)]
        calls = [partial(client.ask, instances=xs) for xs in asked]
        for xs, answer in zip(asked, at_once(calls), strict=True):
            assert answer == {"predictions": [x / 2 for x in xs]}
        batches, rows = client.batches()
        assert rows == sum(sizes) and batches < len(sizes)
        largest = "seqattn_batch_rows_bucket", ("8.0", "serving_default")
        assert client.metrics()[largest] == batches


def test_signatures_do_not_mix_and_long_texts_have_their_own_batch(odd):
    with serving(odd, wait_ms=60_000, batch=3) as client:
        names = ["serving_default"] * 3 + ["logarithm"] * 3
        ask = partial(client.ask, instances=[1.0])
        found = at_once([partial(ask, signature_name=name) for name in names])
        assert [x["predictions"] for x in found] == [[0.5]] * 3 + [[0.0]] * 3
        texts = ["a"] * 3 + ["x" * 600] * 2
        ask = partial(client.ask, signature_name="picky")
        found = at_once([partial(ask, instances=[text]) for text in texts])
        assert [x["predictions"] for x in found] == [[f"{text}!"] for text in texts]
        assert client.batches("picky") == (3, 5)


def test_one_that_fails_does_not_spoil_the_others(odd):
    with serving(odd, wait_ms=60_000, batch=4) as client:
        send = partial(client.send, signature_name="picky")
        calls = [partial(send, instances=[text]) for text in ("a", "bad", "c", "d")]
        replies = at_once(calls)
        assert [reply.status for reply in replies] == [200, 400, 200, 200]
        assert replies[2].json == {"predictions": ["c!"]}
        assert client.batches("picky")[0] == 1


@contextlib.contextmanager
def busy(client):
    """A server that computes, for minutes, for a client that hangs up in the end."""
    with client.begin_to_ask(signature_name="wait", inputs=[600.0]):
        until(lambda: client.batches("wait") == (1, 1))
        yield


def test_work_ends_after_a_timeout(odd):
    with serving(odd, timeout=0.3) as client:
        said = client.refused(signature_name="wait", inputs=[600.0], status=504)
        assert said == (
            "The request takes too long. Expected an answer in 0.3 seconds, received "
            "none yet. Send less in one request, try again later, or start the "
            "server with a longer --timeout."
        )
        assert client.waiting() == 0
        until(lambda: client.send(instances=[1.0]).status == 200)


def test_work_goes_on_for_the_others_of_a_batch(odd):
    with serving(odd, wait_ms=60_000, batch=2) as client:
        asked = {"signature_name": "wait", "instances": [1.0]}
        with ThreadPoolExecutor(1) as pool:
            with client.begin_to_ask(**asked):
                until(client.waiting)
                other = pool.submit(client.ask, **asked)
                until(lambda: client.batches("wait") == (1, 2))
            assert other.result() == {"predictions": [1.0]}


def test_a_body_that_does_not_come(odd, monkeypatch):
    monkeypatch.setattr(server, "LINGERING", 0.1)
    with serving(odd, timeout=0.2) as client, client.begin(b"{", size=9) as connection:
        head, body = read_all(connection)
    assert head.startswith("HTTP/1.1 408 ")
    assert b"Expected the body in 0.2 seconds, received a part of it." in body


def test_a_full_queue(odd):
    """It is served as soon as the client that is computed for hangs up."""
    with serving(odd, queue=3, batch=3, timeout=600) as client:
        with ThreadPoolExecutor(1) as pool:
            with busy(client):
                waiting = pool.submit(client.ask, instances=[1, 2])
                until(lambda: client.waiting() == 2)
                reply = client.send(instances=[1, 2])
                assert (reply.status, reply.headers["Retry-After"]) == (503, "1")
                what = "The server is overloaded. Expected at most 3 waiting instances"
                received = "received 2 while 2 wait. Try again in a second"
                check_message(reply.error, what, received)
            assert waiting.result() == {"predictions": [0.5, 1.0]}


def test_a_waiting_request_ends_if_the_client_hangs_up(odd):
    with serving(odd, timeout=600) as client:
        with busy(client):
            with client.begin_to_ask(instances=[1, 2]):
                until(lambda: client.waiting() == 2)
            until(lambda: client.waiting() == 0)
        assert client.ask(signature_name="logarithm", inputs=[1]) == {"outputs": [0.0]}
        assert client.batches("serving_default") == (0, 0)


@pytest.mark.parametrize(
    "rows, taken",
    [
        *(([1] * 7, 7), ([1] * 8, 8), ([1] * 21, 16)),
        *(([5, 3, 8, 1], 3), ([5, 5, 5], 3), ([64], 1)),
    ],
)
def test_batches_have_few_sizes(rows, taken):
    jobs = [batch_queue.Job(SimpleNamespace(rows=n), None, 0.0) for n in rows]
    assert batch_queue.take_row_multiple(jobs) == jobs[:taken]


def test_nothing_is_left_behind(odd):
    def queues():
        return [x.name for x in threading.enumerate() if x.name.startswith("batch-q")]

    with serving(odd) as client:
        client.ask(instances=[1.0])
        assert queues()
    assert not queues()


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


def test_lengths_of_other_inputs_and_of_a_batch():
    bounds = LengthBounds.of({"max_source": 5, "max_length": RELATIVE})
    pair = {"source": array("ab", "abc"), "target": array("", "abcdefghi")}
    assert bounds.lengths(pair) == (4, 6)
    assert bounds.lengths({"x": np.zeros(3)}) == (1, 1)
    assert bounds.lengths({"text": array()}) == (1, 1)
    no_text = np.array([b"\xff\xfe"], object)
    assert LengthBounds().lengths({"text": no_text}) == (7, 7)
    long = SimpleNamespace(rows=1, lengths=(100, 10))
    wide = SimpleNamespace(rows=3, lengths=(5, 50))
    assert cell_count(long) == 1000 and cell_count(wide) == 750
    assert padded_size(padded_size((0, 0, 0), long), wide) == (4, 100, 50)


@pytest.mark.system
@pytest.mark.parametrize("by_row", [True, False])
def test_a_huge_answer_is_refused(client, by_row):
    pair = {"source": "a" * 300, "target": "b" * 299}
    columns = {name: [text] * 64 for name, text in pair.items()}
    asked = {"instances": [pair] * 64} if by_row else {"inputs": columns}
    before = client.batches("score")
    assert client.refused(status=413, signature_name="score", **asked) == (
        "The computation of this request is too large. Expected rows x longest source "
        "x longest target in tokens of at most 4000000, received 64 x 301 x 300, if "
        "every byte is a token. Send fewer texts in one request, send long texts "
        "alone, or start the server with a larger --max-cells."
    )
    assert client.batches("score") == before


@pytest.mark.system
def test_signatures_with_a_target(client):
    names = "serving_default", "translate_with_attention", "nbest", "encode"
    asked = {"instances": ["a" * 300] * 64}
    found = [client.send(signature_name=name, **asked).status for name in names]
    assert found == [413, 413, 413, 200]  # of encode the work is no product


def test_usual_requests_pass():
    lengths = LengthBounds().lengths({"text": array("a" * 200)})
    usual = SimpleNamespace(rows=Limits().batch, lengths=lengths)
    assert cell_count(usual) < Limits().max_cells


def test_shared_batches_are_limited_too(odd, monkeypatch):
    """Three texts of 400 bytes fit together, and five do not."""
    picky = odd.signatures["picky"]
    monkeypatch.setattr(picky, "_bounds", LengthBounds())
    with serving(odd, wait_ms=300, max_cells=500_000) as client:
        asked = {"signature_name": "picky", "instances": ["a" * 400]}
        found = at_once([lambda: client.ask(**asked)] * 5)
        assert found == [{"predictions": ["a" * 400 + "!"]}] * 5
        batches, _ = client.batches("picky")
        small = "seqattn_batch_rows_bucket", ("4.0", "picky")
        assert client.metrics()[small] == batches >= 2


def test_all_requests_together_are_limited(odd, monkeypatch):
    monkeypatch.setattr(odd.signatures["wait"], "lengths", lambda inputs: (10, 10))
    with serving(odd, max_cells=150, batch=1, queue=1) as client:
        asked = {"signature_name": "wait", "inputs": [60.0]}
        with client.begin_to_ask(**asked):
            until(lambda: client.batches("wait") == (1, 1))
            check_message(
                client.refused(status=503, **asked),
                "The server is overloaded. Expected at most 150 rows x source x target",
                "in all running requests, received 100 while 100 are running. Try ",
            )
        assert client.ask(instances=[1.0]) == {"predictions": [0.5]}
