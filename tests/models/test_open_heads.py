"""Heads that read what they declare, and models that return alignments, too."""

from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.models.head_inputs import names_read
from keras_seqattn.ops.mask import per_query
from keras_seqattn.testing.case import save_and_load
from keras_seqattn.testing.compare import flat, same
from tests.decoding.real_models import SOURCE, SOURCE_VOCABULARY, VOCABULARY, seq2seq
from tests.models.seq2seq_cases import INPUTS, LABELS, TARGET, pointer

BOTH = ("logits", "alignment")
NAMED = {"outputs": BOTH}
MASK = TARGET != 0
ALIGNMENT = np.tile(np.eye(6, dtype="float32")[0], (4, 5, 1))  # the first position
DATA = INPUTS, {"logits": LABELS, "alignment": ALIGNMENT}

# Heads --------------------------------------------------------------------------------


def transformer():
    decoder = ks.layers.TransformerDecoder(4, layers=1, heads=2)
    embedding = keras.layers.Embedding(VOCABULARY, 4)
    return pointer(decoder=decoder, bridge=None, target_embedding=embedding)


@pytest.mark.parametrize(
    "make, search",
    [
        (lambda: pointer("heads"), ks.Greedy()),
        (lambda: pointer("heads"), ks.BeamSearch(3)),
        pytest.param(transformer, ks.BeamSearch(3), marks=pytest.mark.slow),
    ],
    ids=["greedy", "beam", "transformer"],
)
def test_a_search_passes_what_the_head_reads(make, search):
    model, limit = make(), ks.decoding.RelativeLength(1.0, plus=1)
    decoded = ks.decode(model, SOURCE, search, limit)
    scored = ks.decoding.score(model, SOURCE, decoded.tokens[:, 0])
    same(flat([scored.scores]), flat([decoded.scores[:, 0]]), 1e-5, "scores")


class Bag(keras.layers.Layer):
    """Adds which source ids there are to the outputs; it has a last product."""

    reads = ("outputs", "source")

    def __init__(self):
        super().__init__()
        self.supports_masking = True
        self.head = ks.layers.OutputHead(VOCABULARY)

    def build(self, outputs_shape, source_shape):
        self.head.build(outputs_shape)

    def mixed(self, outputs, source):
        bag = keras.ops.sum(keras.ops.one_hot(source, outputs.shape[-1]), axis=1)
        return outputs + per_query(bag, len(outputs.shape))

    def call(self, outputs, source):
        return self.head(self.mixed(outputs, source))

    def hidden(self, outputs, source):
        return self.head.hidden(self.mixed(outputs, source))

    @property
    def last_product(self):
        return self.head.last_product

    def compute_output_shape(self, outputs_shape, source_shape):
        return self.head.compute_output_shape(outputs_shape)


def test_a_shortlist_keeps_the_source():
    model, nothing = seq2seq(head=Bag()), np.full([SOURCE_VOCABULARY, 1], -1)
    listed = ks.decoding.Shortlist(nothing, range(VOCABULARY))
    search = ks.BeamSearch(3)
    found = [
        ks.decode(model, SOURCE, search, 6, shortlist=shortlist)
        for shortlist in (None, listed)
    ]
    same(flat(found[0].scores), flat(found[1].scores), 1e-5, "scores")
    np.testing.assert_array_equal(found[0].tokens, found[1].tokens)
    scored = ks.decoding.score(model, SOURCE, found[0].tokens[:, 0])
    same(flat(scored.scores), flat(found[0].scores[:, 0]), 1e-5, "score")


def test_only_such_a_head_gets_the_source():
    assert type(pointer().start(SOURCE).memory) is ks.types.SourcedMemory
    assert type(seq2seq().start(SOURCE).memory) is ks.types.Memory


def test_the_padding_of_the_source_is_hidden_from_the_head():
    model, mask = pointer(), SOURCE != 0
    source = {"source": np.where(mask, SOURCE, 4), "source_mask": mask}
    same(flat([model(INPUTS)]), flat([model({**INPUTS, **source})]), 0, "whole")
    np.testing.assert_array_equal(model.start(source).memory.source, SOURCE)


def test_the_loss_reads_the_logits_of_such_a_head():
    model, losses = pointer(), []
    for loss in ("auto", ks.losses.SmoothedCrossentropy(0.0)):
        model.compile("sgd", loss, run_eagerly=True)
        losses.append(model.test_on_batch(INPUTS, LABELS))
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def test_older_heads_declare_only_that_they_read_inputs():
    old = SimpleNamespace(reads_inputs=True), SimpleNamespace(reads_inputs=False)
    assert list(map(names_read, old)) == [("outputs", "inputs"), ("outputs",)]


# Outputs ------------------------------------------------------------------------------


@pytest.mark.parametrize("attention", ["bahdanau", "heads"])
def test_a_call_returns_a_dict(attention):
    model = save_and_load(seq2seq(attention, **NAMED))
    outputs = model(INPUTS)
    expected = model(INPUTS, return_attention_scores=True)
    same(flat([outputs[n] for n in BOTH]), flat(expected), 0, "outputs")
    mask = MASK if attention == "bahdanau" else MASK[:, None]
    np.testing.assert_array_equal(outputs["alignment"]._keras_mask, mask)
    np.testing.assert_array_equal(outputs["logits"]._keras_mask, MASK)
    loss = keras.losses.MeanSquaredError()(
        outputs["alignment"] * 0 + 1, outputs["alignment"]
    )
    real = (1 - expected[1].numpy())[np.broadcast_to(mask, expected[1].shape[:-1])]
    assert float(loss) == pytest.approx((real**2).mean(), rel=1e-5)


def test_a_loss_without_a_name_is_for_the_logits():
    weights, found = np.array([1, 2, 1, 1.0]), []
    for options, labels in (({}, LABELS), (NAMED, LABELS), (NAMED, DATA[1])):
        model = seq2seq(**options)
        metrics = {"weighted_metrics": [ks.metrics.TokenAccuracy(), "accuracy"]}
        model.compile("sgd", "auto", **metrics, run_eagerly=True)
        batch = INPUTS, labels, weights
        found.append([model.train_on_batch(*batch, return_dict=True) for _ in range(2)])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("probability", [0, pytest.param(0.1, marks=pytest.mark.slow)])
def test_alignments_are_trained(probability, tmp_path):
    model = seq2seq(**NAMED)
    if probability:
        probability = ks.models.ConstantProbability(probability)
        model = ks.models.ScheduledSampling(model, probability)
    model.compile(
        keras.optimizers.Adam(0.05),
        {"logits": "auto", "alignment": keras.losses.KLDivergence()},
        loss_weights={"alignment": 2.0},
        weighted_metrics=[ks.metrics.TokenAccuracy()],
        metrics={"alignment": keras.metrics.MeanSquaredError()},
    )
    dataset = tf.data.Dataset.from_tensors(DATA).repeat(20)
    history = model.fit(dataset, epochs=2, shuffle=False, verbose=0).history
    for name in ("logits_loss", "alignment_loss", "alignment_mean_squared_error"):
        assert history[name][1] < history[name][0] / 2
    found = model.evaluate(*DATA, verbose=0, return_dict=True)
    total = found["logits_loss"] + 2 * found["alignment_loss"]
    assert found["loss"] == pytest.approx(total, rel=1e-5)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.evaluate(*DATA, verbose=0, return_dict=True) == found
