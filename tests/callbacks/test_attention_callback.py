"""AttentionCallback: what it writes, when, with which weights, and its errors."""

import functools
import json

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.decoding.compiled_functions import _functions as functions_of
from tests.raised import check_message
from tests.tensorboard import logs

GOLD = ks.metrics.read_alignments(["0-0", "", ""])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One training with all there is, and the stock callback beside it."""
    folder = tmp_path_factory.mktemp("logs")
    keras.utils.set_random_seed(1)
    attention = ks.layers.MultiHeadAdditiveAttention(16, heads=2)
    translator = logs.compiled(attention, use_ema=True, ema_momentum=0.9)
    callback = ks.callbacks.AttentionCallback(
        translator, logs.SENTENCES, logs.REFERENCES, gold=GOLD, log_dir=folder, beam=2
    )
    stock = keras.callbacks.TensorBoard(folder, update_freq=1, profile_batch=2)
    logs.fit(translator, stock, callback)
    return folder, translator, callback


@pytest.fixture(scope="module")
def pictures(run):
    return logs.read(run[0])[0]


def test_tags_and_steps(run, pictures):
    metadata = logs.read(run[0])[1]
    tags = [f"attention/00{n}" for n in range(3)]
    assert set(pictures) == {*tags, "attention/table"}
    assert all(list(steps) == [1, 2, 3] for steps in pictures.values())
    for tag, text, reference in zip(tags, logs.SENTENCES, logs.REFERENCES, strict=True):
        content = json.loads(metadata[tag].plugin_data.content)
        assert content["source"]["text"] == text
        assert content["reference"] == reference
    assert pictures[tags[0]][1]["gold"] == [[0, 0, "S"]]


def test_beside_the_stock_callback(run):
    """It writes scalars, graphs and profiles, and counts its epochs from 0."""
    found = [(value.tag, step) for step, value in logs.values(run[0] / "validation")]
    for tag, steps in (("epoch_loss", [0, 1, 2]), ("attention/000", [1, 2, 3])):
        assert [step for name, step in found if name == tag] == steps
    train = {value.tag: value.metadata for _, value in logs.values(run[0] / "train")}
    assert {"epoch_loss", "batch_loss"} <= train.keys()
    assert not any(tag.startswith("attention") for tag in train)
    assert train["batch_2"].plugin_data.plugin_name == "graph_run_metadata_graph"
    assert list((run[0] / "train/plugins/profile").rglob("*.xplane.pb"))
    found = [value for _, value in logs.values(run[0] / "validation")]
    found = [x.HasField("metadata") for x in found if x.tag == "attention/001"]
    assert found == [True, False, False]


def test_hypotheses(pictures):
    *free, forced = pictures["attention/001"][3]["hypotheses"]
    assert [(h["kind"], h["rank"]) for h in free] == [("free", 0), ("free", 1)]
    assert free[0]["ranking"] >= free[1]["ranking"]
    assert forced["kind"] == "forced" and forced["ranking"] is None
    assert forced["text"] == logs.REFERENCES[1]
    assert forced["tokens"][-1] == ["</s>", 2, 2]
    weights = forced["weights"]
    assert weights.shape == (2, 3, 6)  # heads, "yx", "ÉCOLE", with end tokens
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=0.01)
    assert np.abs(weights[0] - weights[1]).max() > 0.01  # two heads, not their mean


def test_the_last_pictures_are_of_the_weights_that_fit_leaves(run, pictures):
    # The weights shown before differ.
    for n, made in enumerate(run[2].probe.pictures()):
        logs.same(made, pictures[f"attention/00{n}"][3])
    translator = run[1]
    search = ks.BeamSearch(2, n_best=2)  # that of the translator, but narrower
    translations = translator.with_search(search)(logs.SENTENCES)
    for n, translation in enumerate(translations):
        free = pictures[f"attention/00{n}"][3]["hypotheses"][:2]
        expected = [translation, *translation.alternatives]
        for said, known in zip(free, expected, strict=True):
            assert said["text"] == known.text
            assert said["score"] == pytest.approx(known.score, abs=1e-4)
            mean = said["weights"].mean(axis=0)
            np.testing.assert_allclose(mean, known.alignment, atol=1e-3)
            assert [t[0] for t in said["tokens"]] == known.target_tokens
    pairs = ks.data.Pairs(logs.SENTENCES, logs.REFERENCES)
    forced = [pictures[f"attention/00{n}"][3]["hypotheses"][-1] for n in range(3)]
    scores = [said["score"] for said in forced]
    np.testing.assert_allclose(scores, translator.score(pairs), atol=1e-4)


def test_table(pictures):
    tags = set(pictures) - {"attention/table"}
    for step, rows in pictures["attention/table"].items():
        assert rows == {tag: pictures[tag][step]["metrics"] for tag in tags}
        assert all("bleu" in row for row in rows.values())


@functools.cache
def greedy():
    """Without references, and nothing traced twice."""
    return logs.compiled(search=ks.Greedy())


def callback(folder, probe=None, **options):
    options = {"log_dir": folder, **options}
    made = ks.callbacks.AttentionCallback(greedy(), logs.SENTENCES[:1], **options)
    made.probe = probe or logs.FixedProbe(logs.random_picture())
    return made


def train(callback, epochs=3, **options):
    """A model of one weight: only the callback costs time."""
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    options = {"epochs": epochs, "callbacks": [callback], "verbose": 0, **options}
    return model.fit(np.ones((2, 1)), np.ones((2, 1)), **options)


def steps(folder):
    return list(logs.read(folder)[0].get("attention/000", ()))


EVERY = [(1, 0, 3, [1, 2, 3]), (2, 0, 5, [2, 4]), (4, 0, 3, []), (1, 4, 6, [5, 6])]


@pytest.mark.parametrize("every, first, epochs, expected", EVERY)
def test_every(every, first, epochs, expected, tmp_path):
    train(callback(tmp_path, every=every), epochs, initial_epoch=first)
    assert steps(tmp_path) == expected


def test_training_that_goes_on(tmp_path):
    shown = callback(tmp_path)
    train(shown, epochs=2)
    for path in tmp_path.rglob("events.*"):
        path.unlink()
    train(shown, epochs=3, initial_epoch=2)
    assert steps(tmp_path) == [3]


def test_in_a_loop_of_ones_own(tmp_path):
    shown = callback(tmp_path)
    for step in (10, 20):
        shown.write(step)
        assert steps(tmp_path)[-1] == step  # at once, not only when it is closed
    shown.close()
    shown.close()
    assert steps(tmp_path) == [10, 20]


def test_records_under_its_name_whatever_others_say(tmp_path):
    shown = callback(tmp_path, name="en-de/probe")
    with tf.summary.record_if(False):
        train(shown, epochs=1)
    assert set(logs.read(tmp_path)[0]) == {"en-de/probe/000", "en-de/probe/table"}


def probed(folder, *texts, translator=None):
    translator = translator or greedy()
    shown = ks.callbacks.AttentionCallback(translator, *texts, log_dir=folder)
    return shown.probe.pictures()


def test_greedy_without_references_and_of_what_is_not_read(tmp_path):
    made = probed(tmp_path, logs.SENTENCES)
    assert [len(picture["hypotheses"]) for picture in made] == [1, 1, 1]
    assert made[0]["reference"] is None and "bleu" not in made[0]["metrics"]
    [said] = made[0]["hypotheses"]
    assert said["centre"] is said["reach"] is None
    # After max_source tokens there is only the end token.
    parts = greedy().model, greedy().source_text, greedy().target_text
    made = ks.Translator(*parts, ks.Greedy(), max_source=2)
    [picture] = probed(tmp_path, ["deaf"], translator=made)
    assert [token[0] for token in picture["source"]["tokens"]] == ["d", "e", "</s>"]
    assert picture["hypotheses"][0]["shape"][2] == 3


def test_many_sentences_are_not_one_batch(tmp_path, monkeypatch):
    monkeypatch.setattr("keras_seqattn.pictures.probe._AT_ONCE", 2)
    found = probed(tmp_path, logs.SENTENCES)
    monkeypatch.undo()
    for one, other in zip(found, probed(tmp_path, logs.SENTENCES), strict=True):
        logs.same(one, other, 1e-5)


def test_weights_that_are_nan(tmp_path):
    texts, weights = (logs.SENTENCES, logs.REFERENCES), greedy().model.get_weights()
    shown = ks.callbacks.AttentionCallback(greedy(), *texts, log_dir=tmp_path)
    greedy().model.set_weights([w * np.nan for w in weights])
    shown.write(0)
    shown.close()
    greedy().model.set_weights(weights)
    found, _ = logs.read(tmp_path)
    assert found.pop("attention/table")[0]["attention/002"]["entropy"] is None
    for made in found.values():
        [said] = made[0]["hypotheses"]
        assert said["kind"] == "forced" and said["score"] is None
        assert np.isnan(said["weights"]).all()


def test_compiled_once(tmp_path):
    counts = []
    for sentence in ("deaf", "abba", "b"):
        probed(tmp_path, [sentence], ["x"])
        counts.append(len(functions_of(greedy().model)))
    assert len(set(counts)) == 1


def test_an_error_does_not_end_the_training(tmp_path):
    probe = logs.FixedProbe(error=RuntimeError("out of luck"))
    shown = callback(tmp_path, probe)
    with pytest.warns(UserWarning) as caught:
        history = train(shown, epochs=3)
    assert len(history.history["loss"]) == 3
    assert probe.count == 1 and steps(tmp_path) == []
    [said] = [str(warning.message) for warning in caught]
    rest = "received RuntimeError: out of luck. The training continues without them"
    check_message(said, "AttentionCallback could not show the alignments", rest)
    shown.probe = logs.FixedProbe(logs.random_picture())
    train(shown, epochs=1)  # the next training tries again
    assert steps(tmp_path) == [1]


def test_folder_that_is_gone(tmp_path):
    shown = callback(tmp_path)
    (tmp_path / "validation").rmdir()
    (tmp_path / "validation").write_text("in the way")
    with pytest.warns(UserWarning, match="could not show"):
        history = train(shown)
    assert len(history.history["loss"]) == 3


def test_interrupts_are_for_people(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(callback(tmp_path, logs.FixedProbe(error=KeyboardInterrupt())))


def test_embeddings_for_the_projector(tmp_path):
    translator = greedy()
    shown = callback(tmp_path, projector=True)
    train(shown, epochs=1)
    folder = tmp_path / "validation"
    vectors = np.loadtxt(folder / "target.tsv", delimiter="\t")
    weights = translator.model.target_embedding.embeddings.numpy()
    np.testing.assert_allclose(vectors, weights, rtol=1e-5)
    lines = (folder / "source.metadata.tsv").read_text().splitlines()
    assert len(lines) == 1 + translator.source_text.vocabulary_size
