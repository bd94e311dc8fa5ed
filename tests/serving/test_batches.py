"""Requests that arrive together share a batch, and their answers stay the same."""

import json
import shutil
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from keras_seqattn import manifest
from keras_seqattn.serving import batch_queue
from keras_seqattn.serving.cancellation import Cancellation
from keras_seqattn.serving.model import ServedModel
from keras_seqattn.serving.predict_request import SignatureCall
from tests.serving.thread import serving


def at_once(calls):
    """Their results; all start together."""
    with ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(call) for call in calls]
        return [future.result() for future in futures]


@pytest.mark.system
def test_answers_are_those_of_single_requests(client):
    texts = [f"abc {'defgh é' * (n % 7)}{n}" for n in range(48)]
    single = [client.ask(instances=[text])["predictions"] for text in texts]
    before = client.metrics()
    found = at_once([lambda text=text: client.ask(instances=[text]) for text in texts])
    after = client.metrics()
    for [one], answer in zip(single, found, strict=True):
        [row] = answer["predictions"]
        assert row["text"] == one["text"]
        assert row["score"] == pytest.approx(one["score"], rel=1e-5)
    batches, rows = (
        after[f"seqattn_batch_rows_{what}", ("serving_default",)]
        - before[f"seqattn_batch_rows_{what}", ("serving_default",)]
        for what in ("count", "sum")
    )
    assert rows == 48 > batches


@pytest.mark.system
def test_what_is_as_wide_as_its_batch_is_not_shared(client):
    texts = ["a", "abcdefgh" * 9] * 6
    asked = {"signature_name": "translate_with_attention"}
    single = [client.ask(instances=[text], **asked) for text in texts]
    calls = [lambda text=text: client.ask(instances=[text], **asked) for text in texts]
    assert at_once(calls) == single


@pytest.mark.parametrize(
    ("content", "is_shared"),
    [
        ({"search": {"class": "Greedy"}}, True),
        ({"search": {"class": "Sample", "seed": None}}, True),
        ({"search": {"class": "Sample", "seed": 0}}, False),
        ({"search": {"class": "Greedy"}, "shortlist": {"size": 9}}, False),
    ],
    ids=str,
)
def test_what_sees_its_batch_is_not_shared(versions, tmp_path, content, is_shared):
    """Equal seeds draw the same for a row in the same place of a batch alone."""
    copy = shutil.copytree(versions / "1", tmp_path / "copy")
    manifest.write(copy, content)
    assert ServedModel(copy).signatures["serving_default"].is_shared == is_shared


def test_rows_of_several_requests(odd):
    """Each gets its own, however many it has."""
    with serving(odd, wait_ms=2000, batch=8) as client:
        sizes = [1, 3, 2, 5, 4, 1, 6]
        asked = [list(range(100 * i, 100 * i + n)) for i, n in enumerate(sizes)]
        calls = [lambda xs=xs: client.ask(instances=xs) for xs in asked]
        for xs, answer in zip(asked, at_once(calls), strict=True):
            assert answer == {"predictions": [x / 2 for x in xs]}
        found = client.metrics()
        name = "serving_default"
        assert found["seqattn_batch_rows_sum", (name,)] == sum(sizes)
        batches = found["seqattn_batch_rows_count", (name,)]
        assert batches < len(sizes)
        assert found["seqattn_batch_rows_bucket", ("8.0", name)] == batches


def test_a_full_batch_does_not_wait(odd):
    with serving(odd, wait_ms=60_000, batch=4) as client:
        assert at_once([lambda: client.ask(instances=[1, 2])] * 2)


def test_signatures_do_not_mix(odd):
    with serving(odd, wait_ms=60_000, batch=3) as client:
        logarithm = {"signature_name": "logarithm"}
        found = at_once(
            [lambda: client.ask(instances=[1.0])] * 3
            + [lambda: client.ask(instances=[1.0], **logarithm)] * 3
        )
        values = [answer["predictions"] for answer in found]
        assert values == [[0.5]] * 3 + [[0.0]] * 3


def test_one_that_fails_does_not_spoil_the_others(odd):
    with serving(odd, wait_ms=60_000, batch=4) as client:

        def ask(text):
            body = json.dumps({"signature_name": "picky", "instances": [text]}).encode()
            return client.post(body)

        texts = ["a", "bad", "c", "d"]
        replies = at_once([lambda text=text: ask(text) for text in texts])
        assert [reply.status for reply in replies] == [200, 400, 200, 200]
        assert replies[2].json == {"predictions": ["c!"]}
        found = client.metrics()
        assert found["seqattn_batch_rows_count", ("picky",)] == 1  # it was one batch


def test_long_texts_have_their_own_batch(odd):
    """Short ones share a batch, long ones have one each, in a queue of their own."""
    with serving(odd, wait_ms=60_000, batch=3) as client:
        long = "x" * 600
        picky = {"signature_name": "picky"}
        found = at_once(
            [lambda: client.ask(instances=["a"], **picky)] * 3
            + [lambda: client.ask(instances=[long], **picky)] * 2
        )
        assert [f["predictions"] for f in found] == [["a!"]] * 3 + [[f"{long}!"]] * 2
        counts = client.metrics()
        assert counts["seqattn_batch_rows_count", ("picky",)] == 3
        assert counts["seqattn_batch_rows_sum", ("picky",)] == 5


# Limits -------------------------------------------------------------------------------


def test_timeout(odd):
    with serving(odd, timeout=0.3) as client:
        said = client.refused(signature_name="wait", inputs=[2.0], status=504)
        assert said == (
            "The request takes too long. Expected an answer in 0.3 seconds, received "
            "none yet. Send less in one request, try again later, or start the "
            "server with a longer --timeout."
        )
        assert client.metrics()["seqattn_waiting_rows", ("short",)] == 0


def test_work_ends_after_a_timeout(odd):
    """The computation would take minutes; the next request does not wait for it."""
    with serving(odd, timeout=3.0) as client:
        client.refused(signature_name="wait", inputs=[600.0], status=504)
        assert client.ask(instances=[1.0]) == {"predictions": [0.5]}


def test_work_ends_if_the_client_hangs_up(odd):
    with serving(odd) as client:
        connection = half_asked(client, {"signature_name": "wait", "inputs": [60.0]})
        until(client, lambda found: found.get(("seqattn_batch_rows_sum", ("wait",))))
        connection.close()
        start = time.monotonic()
        assert client.ask(instances=[1.0]) == {"predictions": [0.5]}
        assert time.monotonic() - start < 10


def test_work_goes_on_for_the_others_of_a_batch(odd):
    with serving(odd, wait_ms=60_000, batch=2) as client:
        asked = {"signature_name": "wait", "instances": [2.0]}
        connection = half_asked(client, asked)
        until(client, lambda found: found["seqattn_waiting_rows", ("short",)])
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(client.ask, **asked)
            running = "seqattn_batch_rows_sum", ("wait",)
            until(client, lambda found: found.get(running) == 2)
            connection.close()
            assert other.result() == {"predictions": [2.0]}


def test_a_body_that_does_not_come(odd):
    with serving(odd, timeout=0.2) as client:
        with socket.create_connection(("127.0.0.1", client.port), 60) as connection:
            head = f"POST {client.path()} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"
            head += "Content-Type: application/json\r\n"
            connection.sendall(f"{head}\r\n{{".encode())
            with connection.makefile("rb") as stream:
                answer = stream.read()  # until the server hangs up
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"Expected the body in 0.2 seconds, received a part of it." in answer


def test_a_full_queue(odd):
    with serving(odd, queue=3, batch=3) as client:
        wait = threading.Thread(
            target=lambda: client.ask(signature_name="wait", inputs=[3.0])
        )
        wait.start()
        until(client, lambda found: found.get(("seqattn_batch_rows_sum", ("wait",))))
        waiting = threading.Thread(target=lambda: client.ask(instances=[1, 2]))
        waiting.start()
        until(client, lambda found: found["seqattn_waiting_rows", ("short",)] == 2)
        reply = client.post(b'{"instances": [1, 2]}')
        assert (reply.status, reply.headers["Retry-After"]) == (503, "1")
        assert reply.error == (
            "The server is overloaded. Expected at most 3 waiting instances, received "
            "2 while 2 wait. Try again in a second."
        )
        for thread in (wait, waiting):
            thread.join()
        assert client.ask(instances=[1, 2]) == {"predictions": [0.5, 1.0]}


def test_a_waiting_request_ends_if_the_client_hangs_up(odd):
    with serving(odd) as client:
        wait = threading.Thread(
            target=lambda: client.ask(signature_name="wait", inputs=[3.0])
        )
        wait.start()
        until(client, lambda found: found.get(("seqattn_batch_rows_sum", ("wait",))))
        with half_asked(client, {"instances": [1, 2]}):
            until(client, lambda found: found["seqattn_waiting_rows", ("short",)] == 2)
        until(client, lambda found: found["seqattn_waiting_rows", ("short",)] == 0)
        wait.join()
        assert ("seqattn_batch_rows_sum", ("serving_default",)) not in client.metrics()


def half_asked(client, asked):
    """A connection that has sent a request and has not read an answer."""
    body = json.dumps(asked).encode()
    connection = socket.create_connection(("127.0.0.1", client.port), 60)
    head = f"POST {client.path()} HTTP/1.1\r\nHost: x\r\n"
    head += "Content-Type: application/json\r\n"
    connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return connection


def until(client, condition):
    """The metrics say so."""
    end = time.monotonic() + 30
    while not condition(client.metrics()):
        assert time.monotonic() < end
        time.sleep(0.02)


# Parts --------------------------------------------------------------------------------


def test_a_batch_is_split_by_rows():
    def call(*rows):
        inputs = {"x": np.array(rows)}
        return SignatureCall(signature, inputs, len(rows), True, (1, 1))

    def signature(inputs, cancellation):
        if 13 in inputs["x"]:
            raise ValueError
        return {"y": -inputs["x"]}

    signature.inputs = ["x"]
    found = batch_queue.compute_together([call(1, 2), call(3)], Cancellation())
    assert [answer["y"].tolist() for answer in found] == [[-1, -2], [-3]]
    calls = [call(1), call(13), call(4, 5)]
    one, two, three = batch_queue.compute_together(calls, Cancellation())
    assert one["y"].tolist() == [-1] and three["y"].tolist() == [-4, -5]
    assert isinstance(two, ValueError)


@pytest.mark.parametrize(
    "rows, taken",
    [
        ([1] * 7, 7),
        ([1] * 8, 8),
        ([1] * 21, 16),
        ([5, 3, 8, 1], 3),
        ([5, 5, 5], 3),
        ([64], 1),
    ],
)
def test_batches_have_few_sizes(rows, taken):
    jobs = [batch_queue.Job(SimpleNamespace(rows=n), None, 0.0) for n in rows]
    assert batch_queue.take_row_multiple(jobs) == jobs[:taken]


def test_nothing_is_left_behind(odd):
    """A server that stops ends its threads."""
    with serving(odd) as client:
        client.ask(instances=[1.0])
        assert any(t.name.startswith("batch-queue") for t in threading.enumerate())
    assert not any(t.name.startswith("batch-queue") for t in threading.enumerate())
