"""Requests that are made to hurt a server. Each is a coroutine of a port."""

import asyncio
import gzip
import json
import os

PATIENCE = 4.0  # seconds, then a client gives up
JSON = "application/json"
NOISE = os.urandom(900_000)  # is as large when it is compressed


async def sent(port, data, patience=PATIENCE, most=10**9):
    """Sends bytes, reads up to `most` bytes for some seconds, hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(patience):
            writer.write(data)
            await writer.drain()
            while most > 0 and (part := await reader.read(1_000_000)):
                most -= len(part)
    except (TimeoutError, ConnectionError):
        pass
    finally:
        writer.transport.abort()


def post(body, kind=JSON, length=None, **headers):
    lines = ["POST /v1/models/m:predict HTTP/1.1", "Host: x", "Connection: close"]
    lines += [f"Content-Type: {kind}"] if kind else []
    lines += [f"Content-Length: {len(body) if length is None else length}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def pairs(rows, size):
    """`score` of texts of so many tokens."""
    text = ("abcdefg " * size)[:size]
    asked = {"source": [text] * rows, "target": [text] * rows}
    return json.dumps({"signature_name": "score", "inputs": asked}).encode()


def texts(rows, size, name="serving_default"):
    asked = [("qwertzu " * size)[:size]] * rows
    return json.dumps({"signature_name": name, "instances": asked}).encode()


def whole(*args, **options):
    data = post(*args, **options)
    return lambda port: sent(port, data)


def raw(data, patience=PATIENCE, most=10**9):
    return lambda port: sent(port, data, patience, most)


BOMB = gzip.compress(b'{"instances": ["' + b"a" * 200_000_000 + b'"]}')
SMALL = post(b'{"instances": ["abc"]}').replace(b"Connection: close\r\n", b"")
KINDS = {
    "a huge answer": whole(pairs(64, 1000)),
    "a huge translation": whole(texts(64, 1000)),
    "the largest answer that is allowed": whole(pairs(64, 240)),
    "the largest translation that is allowed": whole(texts(64, 240)),
    "an answer that is not read": raw(post(pairs(64, 240)), most=1000),
    "an answer that is not waited for": raw(post(texts(64, 240)), patience=0.2),
    "many rows": whole(texts(1000, 10)),
    "a long text": whole(texts(1, 100_000)),
    "a large body": whole(b"x" * 3_000_000),
    "a compressed body": whole(gzip.compress(NOISE), Content_Encoding="gzip"),
    "a bomb": whole(BOMB, Content_Encoding="gzip"),
    "half a head": raw(b"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\n"),
    "no head": raw(b""),
    "a connection that stays": raw(b"GET ", patience=35.0),
    "half a body": raw(post(b'{"inst', length=1000)),
    "half a body and the end": raw(post(b'{"inst', length=1000), patience=0.1),
    "wrong lengths": raw(post(b"{}", length="-1")),
    "two lengths": raw(post(b"{}", Content_Length=7)),
    "wrong types": whole(b'{"instances": [1, null, {"a": []}]}'),
    "lists in lists": whole(b'{"instances": ' + b"[" * 400_000),
    "a wide list": whole(b'{"instances": [' + b"1," * 400_000 + b"1]}"),
    "huge numbers": whole(b'{"instances": [' + b"9" * 400_000 + b"]}"),
    "NaN": whole(b'{"instances": [NaN, Infinity]}'),
    "no JSON": whole(NOISE),
    "bytes that are no text": whole(b'{"instances": [{"b64": "//4="}]}'),
    "another content": whole(b"instances=a", "application/x-www-form-urlencoded"),
    "no content type": whole(b'{"instances": ["a"]}', None),
    "another signature": whole(b'{"signature_name": "x", "instances": ["a"]}'),
    "another path": raw(b"GET /etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", patience=0.5),
    "no HTTP": raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n"),
    "noise": raw(NOISE[:50_000]),
    "a long head": raw(b"GET / HTTP/1.1\r\n" + b"A: " + b"b" * 100_000),
    "requests without reading": raw(SMALL * 200, most=10, patience=1.0),
}
