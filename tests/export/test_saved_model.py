"""What is written, where, and what stays there if it cannot be written."""

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.translator import tiny


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Greedy, which is the smallest graph; in the place of something older."""
    path = tmp_path_factory.mktemp("saved") / "greedy"
    older = ["saved_model.pb", "variables/old", "assets.extra/old"]
    for file in (path / name for name in older):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("old")
    tiny.letters().with_search(ks.Greedy()).export(path)
    return path


def test_nothing_is_left_of_an_older_one(saved):
    held = {path.name for path in saved.iterdir()}
    assert held - {"assets"} == {"saved_model.pb", "fingerprint.pb", "variables"}
    assert list(saved.parent.iterdir()) == [saved]


def test_all_variables_are_there(saved):
    """Each once, with its value; none of the optimizer."""
    files = tf.train.load_checkpoint(f"{saved}/variables/variables")
    names = [n for n in files.get_variable_to_shape_map() if "OBJECT_GRAPH" not in n]
    written = sorted(files.get_tensor(n).tobytes() for n in names if "save_c" not in n)
    model = tiny.letters().model
    assert written == sorted(v.numpy().tobytes() for v in model.variables)


def test_signatures(saved):
    loaded = tf.saved_model.load(saved)  # that it works: test_new_process.py
    assert sorted(loaded.signatures) == ["serving_default", "translate_with_attention"]
    short, long = (loaded.signatures[name] for name in sorted(loaded.signatures))
    [text] = short.structured_input_signature[1].values()
    assert (text.name, text.dtype, text.shape.rank) == ("text", tf.string, 1)
    assert sorted(short.structured_outputs) == ["score", "text"]
    nothing = long(tf.constant([], tf.string))
    assert {value.shape[0] for value in nothing.values()} == {0}
    assert sorted(long.structured_outputs) == sorted(
        [
            *["texts", "scores", "ranking", "target_tokens", "target_lengths"],
            *["source_tokens", "source_starts", "source_ends", "source_lengths"],
            *["source_cut", "alignments"],
        ]
    )


def test_what_goes_wrong_leaves_the_old_one(saved, monkeypatch):
    def fail(*_, **__):
        raise OSError("no space left")

    before = (saved / "saved_model.pb").read_bytes()
    with monkeypatch.context() as patched, pytest.raises(OSError):
        patched.setattr(tf.saved_model, "save", fail)
        tiny.letters().export(saved)
    assert (saved / "saved_model.pb").read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.parametrize("name", ["notes.txt", "saved_model.pb/notes.txt"])
def test_a_path_that_holds_something_else(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    (tmp_path / "more.txt").write_text("mine")
    with pytest.raises(ValueError) as caught:
        tiny.letters().export(tmp_path)
    assert str(caught.value) == (
        "export got a path that holds something else. Expected a free one, an empty "
        f"folder, or nothing but an older SavedModel, received {str(tmp_path)!r}. "
        "Choose another."
    )
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.slow
def test_an_ensemble_is_exported(tmp_path):
    models = [tiny.letters().model, tiny.model(*tiny.texts(), seed=2)]
    options = {"search": ks.Greedy(), "max_length": 4}
    translator = ks.Translator(ks.Ensemble(models), *tiny.texts(), **options)
    translator.export(tmp_path / "both")
    served = tf.saved_model.load(tmp_path / "both").signatures["serving_default"]
    expected = translator(tiny.SOURCES)
    found = served(tf.constant(tiny.SOURCES))
    assert [text.decode() for text in found["text"].numpy()] == expected.texts
    assert np.allclose(found["score"], expected.scores, rtol=1e-4)


@pytest.mark.slow
def test_samples_are_drawn_anew(tmp_path):
    search = ks.Sample(temperature=3.0, n_best=5)
    tiny.letters().with_search(search).export(tmp_path / "sample")
    served = tf.saved_model.load(tmp_path / "sample")
    call = served.signatures["translate_with_attention"]
    drawn = {str(call(tf.constant(["abba"]))["texts"].numpy()) for _ in range(3)}
    assert len(drawn) > 1
