"""Names that a server answers to."""

import pytest

from tests.serving.thread import serving

ONE = b'{"instances": [1]}'


@pytest.fixture(scope="module")
def named(odd):
    """A client of a server with names."""
    with serving(odd, hosts=["models.example", "LOCALHOST", "::1"]) as client:
        yield client


@pytest.mark.parametrize(
    "host",
    ["models.example", "Models.Example:8501", "localhost", "[::1]:8501", "localhost:"],
)
def test_its_own(named, host):
    assert named.post(ONE, headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "host, received",
    [
        ("evil.example", "evil.example"),
        ("127.0.0.1:8501", "127.0.0.1"),
        ("models.example.evil:1", "models.example.evil"),
        ("", ""),
    ],
)
def test_others(named, host, received):
    for path in (named.path(), "/v1/models/m", "/nothing"):
        reply = named.request("POST", path, ONE, {"Host": host})
        assert reply.status == 421
        assert reply.error == (
            "The server does not serve this host name. Expected the host "
            f"models.example or localhost or ::1, received {received!r}. Use another "
            "name in the URL, or add it to --allowed-hosts."
        )


def test_health_has_no_name(named):
    headers = {"Host": "10.0.0.7:8501"}
    assert named.request("GET", "/healthz", headers=headers).status == 200


def test_any(odd):
    with serving(odd) as client:
        assert client.post(ONE, headers={"Host": "any.example"}).status == 200
