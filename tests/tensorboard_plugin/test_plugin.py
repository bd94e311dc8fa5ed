"""What TensorBoard asks of a plugin, and the files that it serves."""

import argparse
import importlib.metadata
import importlib.resources

import pytest
from tensorboard.plugins.base_plugin import FrontendMetadata, TBContext

from tensorboard_plugin_seqattn import static
from tensorboard_plugin_seqattn.plugin import SeqAttentionLoader
from tests.tensorboard_plugin.fakes import PICTURE, ROOT, FakeProvider, Site

FOLDER = importlib.resources.files("tensorboard_plugin_seqattn") / "static"


def test_entry_point_is_installed():
    points = importlib.metadata.entry_points(group="tensorboard_plugins")
    ours = [point.load() for point in points if point.name == "seq_attention"]
    assert ours == [SeqAttentionLoader], "install the project again: make install"


@pytest.mark.parametrize("given, kept", [({}, 500), ({"seq_attention": 0}, 0)])
def test_keeps_more_steps_unless_the_user_says_how_many(given, kept):
    flags = argparse.Namespace(samples_per_plugin={"images": 3, **given})
    SeqAttentionLoader().fix_flags(flags)
    assert flags.samples_per_plugin == {"images": 3, "seq_attention": kept}


def test_no_tab_without_a_data_provider():
    assert SeqAttentionLoader().load(TBContext()) is None


@pytest.mark.parametrize("runs", [{}, {"r": {"p/0": PICTURE}}])
def test_tab_is_there_when_there_is_data(runs):
    listed = Site(runs).client.get("/data/plugins_listing").json["seq_attention"]
    assert listed["tab_name"] == "Attention"
    assert listed["enabled"] is bool(runs)
    assert listed["loading_mechanism"] == {
        "type": "IFRAME",
        "module_path": f"{ROOT}/index.js",
    }


def test_loading_asks_nothing_of_the_log():
    # FakeProvider(None) cannot answer anything.
    context = TBContext(data_provider=FakeProvider(None), sampling_hints=None)
    plugin = SeqAttentionLoader().load(context)
    assert plugin.get_plugin_apps()
    assert plugin.is_active() is False
    assert plugin.data_plugin_names() == ("seq_attention",)
    assert isinstance(plugin.frontend_metadata(), FrontendMetadata)


TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
}


def test_serves_the_files_of_the_folder():
    client = Site({}).client
    files = [file for file in FOLDER.iterdir() if file.suffix in TYPES]
    assert files
    for file in files:
        answer = client.get(f"{ROOT}/{file.name}")
        assert answer.data == file.read_bytes()
        assert answer.headers["Content-Type"] == TYPES[file.suffix]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_serves_nothing_else_from_it(tmp_path, monkeypatch):
    (tmp_path / "static" / "deeper.js").mkdir(parents=True)
    for name in ("index.js", "a.css", "b.svg", "notes.md", "c.js.map", "secret"):
        (tmp_path / "static" / name).write_text(name)
    (tmp_path / "outside.js").write_text("outside")
    monkeypatch.setattr(static.importlib.resources, "files", lambda _: tmp_path)
    assert static.static_files() == {
        "/index.js": (b"index.js", "text/javascript"),
        "/a.css": (b"a.css", "text/css"),
        "/b.svg": (b"b.svg", "image/svg+xml"),
    }
    client = Site({}).client
    assert client.get(f"{ROOT}/index.js").data == b"index.js"
    for name in ("notes.md", "secret", "deeper.js", "../outside.js", "..%2Foutside.js"):
        assert client.get(f"{ROOT}/{name}").status_code == 404


def test_files_are_those_of_the_start(tmp_path, monkeypatch):
    # An upgrade below a running TensorBoard gives no page of old and new parts.
    (tmp_path / "static").mkdir()
    file = tmp_path / "static" / "index.js"
    file.write_text("old")
    monkeypatch.setattr(static.importlib.resources, "files", lambda _: tmp_path)
    client = Site({}).client
    file.unlink()
    assert client.get(f"{ROOT}/index.js").data == b"old"
