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
    found = []
    monkeypatch.setattr(server, "serve", lambda *how: found.extend(how))
    return found


def test_usual_options_and_all(folder, served):
    assert main(["serve", str(folder)]) == 0
    where = ("127.0.0.1", 8501)
    assert served[:-1] == ["dates", {3: folder / "3"}, where, Limits(), False, []]
    assert isinstance(served[-1], LogRate)
    served.clear()
    options = (
        "--name de --host ::1 --port 0 --versions all --log-requests --batch 8 "
        "--wait-ms 0 --timeout 2.5 --max-body 100 --max-text 9 --queue 8 --max-cells 7 "
        "--max-connections 6 --allowed-hosts a,B.example"
    )
    assert main(["serve", str(folder / "3"), *options.split()]) == 0
    where, limits = ("::1", 0), Limits(8, 0.0, 2.5, 100, 9, 8, 7, 6)
    hosts = ["a", "B.example"]
    assert served[:-1] == ["de", {3: folder / "3"}, where, limits, True, hosts]


def test_unusable_options_and_a_damaged_folder(fails, folder):
    fails(f"serve {folder} --batch 0", "serve got an unusable batch")
    for options in ("--port 70000", "--host 192.0.2.1"):
        fails(f"serve {folder} {options}", "serve cannot listen at this address")
    (folder / "3" / "saved_model.pb").write_bytes(b"changed")
    what = "serve got a damaged folder. Expected saved_model.pb with sha256 "
    fails(f"serve {folder}", what)
    (folder / "3" / "manifest.json").unlink()
    fails(f"serve {folder}", "serve found no manifest")


@pytest.mark.parametrize("name", ["", "a/b", "a:b", "a b"])
def test_name(fails, folder, name):
    fails(
        ["serve", folder, "--name", name],
        "serve got an unusable name. Expected a word without spaces, / and :, because "
        f"it is a part of URLs, received {name!r}. Choose another --name.",
    )


def test_no_saved_model_and_a_port_in_use(fails, folder):
    """Its checksums are right, but TensorFlow cannot read it."""
    what = "serve cannot load the model. Expected a SavedModel for TensorFlow 2."
    received = f", received '{folder / '3'}' with the error "
    fails(f"serve {folder} --port 0", what, received, ". Export it again.")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        fails(
            f"serve {folder} --port {port}",
            "serve cannot listen at this address. Expected an address of this machine "
            f"and a free port, received host '127.0.0.1' and port {port} with the "
            "error '[Errno 98] Address already in use'. Choose another --port; --port "
            "0 takes any free one.",
        )


@pytest.mark.parametrize("package", ["aiohttp", "prometheus_client"])
def test_missing_package(fails, folder, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    fails(
        f"serve {folder}",
        "serve needs a package that is not installed. Expected aiohttp and "
        f'prometheus-client, received "import of {package} halted; None in sys.modules"'
        '. Run pip install "keras_seqattn[serve]", or in a checkout pip install -e '
        '".[serve]".',
    )


def test_missing_tensorflow_text(fails, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    what = "serve needs a package that is not installed. Expected tensorflow-text, "
    remedy = 'Run pip install "tensorflow-text>=2.21.1,<2.22".'
    fails(f"serve {folder} --port 0", what, remedy)
