"""`seqattn serve`: what is said before anything is served; the rest: tests/serving."""

import socket
import sys

import pytest

from keras_seqattn import manifest
from keras_seqattn.serving import server
from keras_seqattn.serving.limits import Limits
from keras_seqattn.serving.log_rate import LogRate
from seqattn_command import main


@pytest.fixture
def folder(tmp_path):
    """Looks like an exported model, and has a right manifest."""
    path = tmp_path / "dates" / "3"
    path.mkdir(parents=True)
    (path / "saved_model.pb").write_bytes(b"no graph")
    manifest.write(path, {})
    return path.parent


@pytest.fixture
def served(monkeypatch):
    """What would be served."""
    found = []
    monkeypatch.setattr(server, "serve", lambda *how: found.extend(how))
    return found


def test_usual_options(folder, served):
    assert main(["serve", str(folder)]) == 0
    where = ("127.0.0.1", 8501)
    assert served[:-1] == ["dates", {3: folder / "3"}, where, Limits(), False, []]
    assert isinstance(served[-1], LogRate)


def test_all_options(folder, served):
    options = (
        "--name de --host ::1 --port 0 --versions all --log-requests --batch 8 "
        "--wait-ms 0 --timeout 2.5 --max-body 100 --max-text 9 --queue 8 --max-cells 7 "
        "--max-connections 6 --allowed-hosts a,B.example"
    )
    assert main(["serve", str(folder / "3"), *options.split()]) == 0
    limits = Limits(8, 0.0, 2.5, 100, 9, 8, 7, 6)
    expected = ["de", {3: folder / "3"}, ("::1", 0), limits, True, ["a", "B.example"]]
    assert served[:-1] == expected


def test_no_model(failing, tmp_path):
    assert failing("serve", tmp_path).startswith("serve found no exported model. ")


def test_limits(failing, folder):
    assert failing("serve", folder, "--batch", "0").startswith(
        "serve got an unusable batch. "
    )


@pytest.mark.parametrize("name", ["", "a/b", "a:b", "a b"])
def test_name(failing, folder, name):
    assert failing("serve", folder, "--name", name) == (
        "serve got an unusable name. Expected a word without spaces, / and :, because "
        f"it is a part of URLs, received {name!r}. Choose another --name."
    )


def test_no_manifest(failing, folder):
    (folder / "3" / "manifest.json").unlink()
    assert failing("serve", folder).startswith("serve found no manifest. ")


def test_damaged_folder(failing, folder):
    (folder / "3" / "saved_model.pb").write_bytes(b"changed")
    said = failing("serve", folder)
    assert said.startswith(
        "serve got a damaged folder. Expected saved_model.pb with sha256 "
    )


def test_no_saved_model(failing, folder):
    """Its checksums are right, TensorFlow cannot read it all the same."""
    said = failing("serve", folder, "--port", "0")
    assert said.startswith(
        "serve cannot load the model. Expected a SavedModel for TensorFlow 2."
    )
    assert f", received '{folder / '3'}' with the error " in said
    assert said.endswith(". Export it again.")


def test_port_in_use(failing, folder):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert failing("serve", folder, "--port", port) == (
            "serve cannot listen at this address. Expected an address of this machine "
            f"and a free port, received host '127.0.0.1' and port {port} with the "
            "error '[Errno 98] Address already in use'. Choose another --port; --port "
            "0 takes any free one."
        )


@pytest.mark.parametrize("where", [["--port", "70000"], ["--host", "192.0.2.1"]])
def test_no_such_address(failing, folder, where):
    message = failing("serve", folder, *where)
    assert message.startswith("serve cannot listen at this address. ")


@pytest.mark.parametrize("package", ["aiohttp", "prometheus_client"])
def test_missing_package(failing, folder, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert failing("serve", folder) == (
        "serve needs packages that are not installed. Expected aiohttp and "
        f'prometheus-client, received "import of {package} halted; None in sys.modules"'
        '. Run `pip install "keras_seqattn[serve]"`.'
    )


def test_missing_tensorflow_text(failing, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    assert failing("serve", folder, "--port", "0") == (
        "serve needs a package that is not installed. Expected tensorflow-text, "
        'received "import of tensorflow_text halted; None in sys.modules". Run `pip '
        'install "tensorflow-text>=2.21.1,<2.22"`.'
    )
