"""What a server is given: limits, folders of versions, names of hosts."""

import math

import pytest

from keras_seqattn.serving import limits, versions
from keras_seqattn.serving.limits import Limits
from tests.raised import check_error, check_message, untried
from tests.serving.servers import serving

COUNTS = ["batch", "max_body", "max_text", "queue", "max_cells", "max_connections"]
TIMES = [("wait_ms", -1), ("wait_ms", math.nan), ("timeout", 0), ("timeout", "1")]
SHORT = {"batch": 8, "queue": 7}


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [0, 2.0])
def test_counts(name, value):
    what = f"serve got an unusable {name}. Expected a positive integer, received"
    check_error(lambda: Limits(**{name: value}), what, f"{name}={value!r}")


@pytest.mark.parametrize("name, value", [*TIMES, ("timeout", math.inf)])
def test_times(name, value):
    what, least = f"serve got an unusable {name}", {"wait_ms": 0, "timeout": 0.001}
    rest = f"a number, {least[name]} or more, received {name}={value!r}. Leave it out"
    check_error(lambda: Limits(**{name: value}), what, rest)


def test_a_queue_shorter_than_a_batch_and_allowed_values():
    what = "serve got a queue shorter than a batch. Expected queue >= batch, received"
    rest = "queue=7 and batch=8. Raise --queue or lower --batch"
    check_error(lambda: Limits(**SHORT), what, rest)
    calls = [lambda: Limits(timeout=0), lambda: Limits(**SHORT)]
    assert untried([limits.__file__], calls) == []
    counts = dict.fromkeys(COUNTS, 1)
    assert Limits(wait_ms=0, timeout=0.5, **counts).max_cells_at_once == 1
    assert Limits(batch=2, queue=7, max_cells=10).max_cells_at_once == 30


@pytest.fixture
def folder(tmp_path):
    """With versions 2 and 10, and things that are none."""
    for name in ("2", "10", "0"):
        (tmp_path / "dates" / name).mkdir(parents=True)
        (tmp_path / "dates" / name / "saved_model.pb").touch()
    for name in ("11", "old", ".10-new"):
        (tmp_path / "dates" / name).mkdir()
    (tmp_path / "dates" / "12").touch()
    return tmp_path / "dates"


@pytest.mark.parametrize(
    "wanted, numbers", [(None, [10]), ("all", [2, 10]), ("2", [2]), ("2, 10", [2, 10])]
)
def test_version_folders(folder, wanted, numbers):
    expected = {number: folder / str(number) for number in numbers}
    assert versions.find_versions(str(folder), wanted) == expected
    assert versions.model_name(folder) == "dates"


def test_one_version_and_none(folder, monkeypatch):
    assert versions.find_versions(folder / "10") == {10: folder / "10"}
    assert versions.model_name(folder / "10") == "dates"
    monkeypatch.chdir(folder / "10")
    assert versions.model_name(".") == "dates"
    assert list(versions.find_versions(".")) == [10]
    model = (folder / "10").rename(folder.parent / "served")
    for wanted in (None, "all", "1"):
        assert versions.find_versions(model, wanted) == {1: model}
    assert versions.model_name(model) == "served"


@pytest.mark.parametrize("wanted", ["3", "2,3", "latest", "", "-2"])
def test_a_version_that_is_not_there(folder, wanted):
    what = "serve did not find all of these versions. Expected all, or some of 2, 10, "
    rest = f"received {wanted!r}. Write e.g. --versions 10, or leave it out for the hi"
    check_error(lambda: versions.find_versions(folder, wanted), what, rest)


REMEDY = "Check the path, or run seqattn export"
NO_MODEL = {
    "old": f"without saved_model.pb. {REMEDY}.",
    "no": f"no folder. {REMEDY}.",
    "12": "a file. Name the folder that seqattn export wrote, without --litert",
}


@pytest.mark.parametrize("name", NO_MODEL)
def test_no_model(folder, name):
    what = "serve found no exported model. Expected a folder of seqattn export, or a "
    rest = f"{name}', {NO_MODEL[name]}"
    check_error(lambda: versions.find_versions(folder / name), what, rest)


ONE = b'{"instances": [1]}'


@pytest.fixture(scope="module")
def named(odd):
    with serving(odd, hosts=["models.example", "LOCALHOST", "::1"]) as client:
        yield client


OWN = ["models.example", "Models.Example:8501", "localhost", "[::1]:8501", "localhost:"]


@pytest.mark.parametrize("host", OWN)
def test_own_names(named, host):
    assert named.post(ONE, headers={"Host": host}).status == 200


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "models.example.evil:1", ""])
def test_other_names_are_refused(named, host):
    what = "The server does not serve this host name. Expected the host "
    names, received = "models.example or localhost or ::1", host.split(":")[0]
    remedy = f"{received!r}. Use another name in the URL, or add it to --allowed-hosts"
    for path in (named.path(), "/v1/models/m", "/nothing"):
        reply = named.request("POST", path, ONE, {"Host": host})
        assert reply.status == 421
        check_message(reply.error, what, names, remedy)


def test_health_has_no_name_and_without_a_list_any_will_do(named, odd):
    headers = {"Host": "10.0.0.7:8501"}
    assert named.request("GET", "/healthz", headers=headers).status == 200
    with serving(odd) as client:
        assert client.post(ONE, headers={"Host": "any.example"}).status == 200
