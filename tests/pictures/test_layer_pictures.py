"""Pictures of all layers and heads, from the callback to the log."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.pictures import layer_pictures
from tests.tensorboard.logs import REFERENCES, SENTENCES, read, same
from tests.translator import tiny

L = ks.layers
CROSS = ["decoder/layer 1", "decoder/layer 2"]
SELF = [f"{side}/self/layer {n}" for side in ("encoder", "decoder") for n in (1, 2)]


@pytest.fixture(scope="module")
def translator():
    source, target = tiny.texts()
    sizes = source.vocabulary_size, target.vocabulary_size
    keras.utils.set_random_seed(2)
    model = ks.Seq2Seq(
        keras.layers.Embedding(sizes[0], 8, embeddings_initializer="normal"),
        encoder=L.TransformerEncoder(8, layers=2, heads=2),
        decoder=L.TransformerDecoder(8, layers=2, heads=2),
        head=L.OutputHead(sizes[1]),
        target_embedding=keras.layers.Embedding(sizes[1], 8),
    )
    return ks.Translator(model, source, target, ks.Greedy(), 6)


def callback(translator, folder, **options):
    texts = SENTENCES, REFERENCES
    return ks.callbacks.AttentionCallback(translator, *texts, log_dir=folder, **options)


def test_alignments_of_a_picture(translator, tmp_path):
    """The mean of the last layer is what the search returns; all is in the log."""
    shown = callback(translator, tmp_path)
    shown.write(3)
    shown.close()
    logged = read(tmp_path)[0]
    for tag, made in zip(shown.tags, shown.probe.pictures(), strict=True):
        assert sorted(made["alignments"]) == sorted(CROSS + SELF)
        last = made["alignments"]["decoder/layer 2"]
        for one, other in zip(made["hypotheses"], last["hypotheses"], strict=True):
            assert one["tokens"] == other["tokens"] and one["kind"] == other["kind"]
            mean = other["weights"].mean(axis=0)
            np.testing.assert_allclose(one["weights"][0], mean, atol=1e-5)
        own = made["alignments"]["decoder/self/layer 1"]["hypotheses"]
        for one, other in zip(made["hypotheses"], own, strict=True):
            assert other["tokens"] == [["<s>", 0, 0], *one["tokens"][:-1]]
            assert not np.any(np.triu(other["weights"], 1))
        [read_by_encoder] = made["alignments"]["encoder/self/layer 2"]["hypotheses"]
        assert read_by_encoder["tokens"] == made["source"]["tokens"]
        for name, one in made.pop("alignments").items():
            for said in one["hypotheses"]:
                assert said["shape"][0] == 2
                np.testing.assert_allclose(said["weights"].sum(axis=-1), 1, atol=1e-5)
            same(one, logged[f"{tag}/{name}"][3])


def test_which_are_shown(translator, tmp_path, monkeypatch):
    """Those that are named, of all sentences; or all, of as many as there is room."""

    def shown(names):
        made = callback(translator, tmp_path, alignments=names).probe.pictures()
        return [[*picture.get("alignments", {})] for picture in made]

    assert shown(CROSS[:1]) == [CROSS[:1]] * 3
    assert shown([]) == [[]] * 3
    sizes = [len(picture) for picture in SENTENCES]
    first = 2 * 12 * (sizes[0] + 1) ** 2  # hypotheses, alignments, weights
    monkeypatch.setattr(layer_pictures, "MOST_WEIGHTS", first + 1)
    assert list(map(len, shown(None))) == [6, 0, 0]


def test_models_with_one_alignment_show_no_other(tmp_path):
    made = callback(tiny.untrained(), tmp_path)
    assert made.probe.layers.names == []
