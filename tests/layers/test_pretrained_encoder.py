"""`PretrainedEncoder`: any model as an encoder, frozen or trained more slowly."""

import warnings

import keras
import numpy as np
import pytest
from keras import layers

import keras_seqattn as ks
from keras_seqattn.layers import DenseBridge, PretrainedEncoder
from keras_seqattn.optimizers import FusedAdam
from keras_seqattn.testing.case import save_and_load
from keras_seqattn.testing.compare import flat, same
from tests import hub
from tests.errors.valid_arguments import bahdanau_cell

MASK = np.arange(6) < np.array([[6], [4], [1]])
IDS = np.where(MASK, np.random.default_rng(4).integers(4, 20, size=(3, 6)), 0)
TARGET = np.array([[1, 7, 8], [1, 4, 0], [1, 5, 6]])
LABELS = np.roll(TARGET, -1, axis=1)
INPUTS = {"source": IDS, "target": TARGET}


def of_ids():
    ids = keras.Input((None,), dtype="int32")
    lstm = layers.LSTM(4, return_sequences=True)
    return keras.Model(ids, lstm(layers.Embedding(20, 4, mask_zero=True)(ids)))


class Subclass(keras.Model):
    """A model that does not say what its inputs are."""

    def __init__(self):
        super().__init__()
        self.embedding = layers.Embedding(20, 4)

    def call(self, ids):
        return self.embedding(ids)


def of_numbers():
    return keras.Sequential([keras.Input((None, 5)), layers.Dense(4)])


BACKBONES = {
    "bert": hub.bert,
    "roberta": hub.roberta,
    "ids": of_ids,
    "subclass": Subclass,
    "numbers": of_numbers,
}


def model(encoder, decoder=None, bridge=None):
    return ks.Seq2Seq(
        source_embedding=None,
        encoder=encoder,
        bridge=bridge,
        target_embedding=layers.Embedding(9, 8),
        decoder=decoder or ks.AttentionDecoder(bahdanau_cell()),
        head=ks.layers.OutputHead(9),
    )


@pytest.mark.parametrize("name", BACKBONES)
def test_whatever_returns_a_sequence_is_an_encoder(name):
    backbone = BACKBONES[name]()
    encoder = PretrainedEncoder(backbone)
    real = [IDS, np.eye(5)[IDS % 5].astype("float32")][name == "numbers"]
    encoded = encoder(real, mask=MASK)
    given = real
    if "bert" in name:
        given = {"token_ids": IDS, "padding_mask": MASK * 1}
        given |= {"segment_ids": np.zeros_like(IDS)} if name == "bert" else {}
        other = encoder(np.where(MASK, IDS, 99), mask=MASK)
        same(flat([encoded.values]), flat([other.values]), 0, "ids in the padding")
    values = backbone(given)
    values = values["sequence_output"] if isinstance(values, dict) else values
    expected = np.where(MASK[..., None], values, 0.0)
    same(flat([encoded.values]), [expected], 1e-6, name)
    assert encoder.compute_output_shape(real.shape).values == expected.shape
    made = model(encoder)
    whole = made({**INPUTS, "source": real, "source_mask": MASK})
    assert whole.shape == (3, 3, 9)


def first_step(made, optimizer):
    """The largest changes of the weights of encoder and decoder in one step."""
    made.compile(optimizer, loss="auto", run_eagerly=True)
    before = [flat(part.weights) for part in (made.encoder.backbone, made.decoder)]
    made.train_on_batch(INPUTS, LABELS)
    after = [flat(part.weights) for part in (made.encoder.backbone, made.decoder)]
    return [
        max(np.abs(b - a).max() for a, b in zip(*both, strict=True) if a.ndim > 1)
        for both in zip(before, after, strict=True)
    ]


def test_frozen_weights_stay_and_scaled_ones_take_smaller_steps():
    """The first step of Adam has the size of the learning rate, for every weight."""
    scaled = model(PretrainedEncoder(hub.bert(), learning_rate_scale=0.25))
    slow, full = first_step(scaled, FusedAdam(1e-2))
    np.testing.assert_allclose([slow, full], [0.0025, 0.01], rtol=0.1)
    frozen = PretrainedEncoder(hub.bert(), trainable=False)
    still, _ = first_step(model(frozen), "adam")  # one learning rate is enough
    assert still == 0
    same(flat(frozen(IDS)), flat(frozen(IDS, training=True)), 0, "without dropout")


def test_learns_to_reverse_searches_and_is_saved(tmp_path):
    """From a preset, with a state that pools the values; a checkpoint goes on."""
    keras.utils.set_random_seed(3)
    hub.bert(hidden_dim=16, dropout=0.0).save_to_preset(tmp_path)
    encoder = PretrainedEncoder.from_preset(
        str(tmp_path), learning_rate_scale=0.5, name="bert"
    )
    cell = ks.layers.BahdanauCell(24, ks.BahdanauAttention(16))
    made = ks.Seq2Seq(
        source_embedding=None,
        encoder=encoder,
        bridge=DenseBridge(24, inputs="mean"),
        target_embedding=layers.Embedding(9, 16),
        decoder=ks.AttentionDecoder(cell),
        head=ks.layers.OutputHead(9),
    )
    symbols = np.random.default_rng(0).integers(4, 9, size=(600, 4))
    end, start = np.full([600, 1], 2), np.full([600, 1], 1)
    inputs = {
        "source": np.concatenate([symbols, end], axis=1),
        "target": np.concatenate([start, symbols[:, ::-1]], axis=1),
    }
    labels = np.concatenate([symbols[:, ::-1], end], axis=1)
    made.compile(FusedAdam(1e-2), loss="auto")
    history = made.fit(inputs, labels, epochs=12, batch_size=50, verbose=0)
    assert history.history["loss"][-1] < 0.2
    source = inputs["source"][:20]
    decoded = ks.decode(made, source, ks.BeamSearch(2), max_length=6)
    assert np.mean(decoded.tokens[:, 0, :5] == labels[:20]) > 0.9
    scored = ks.decoding.score(made, source, decoded.tokens[:, 0])
    same(flat([scored.scores]), flat([decoded.scores[:, 0]]), 1e-4, "step by step")
    again = save_and_load(made)
    for each in (made, again):  # the optimizer goes on where it was
        each.run_eagerly = True
        each.train_on_batch({k: x[:50] for k, x in inputs.items()}, labels[:50])
    same(flat(made.weights), flat(again.weights), 1e-6, "reloaded")


def test_an_encoder_of_users_may_read_the_source():
    class Reader(ks.BiEncoder):
        reads_source, source_shape = True, (None, None, 5)

    made = model(Reader(3))
    numbers = np.random.default_rng(0).normal(size=(3, 6, 5))
    logits = made({"source": numbers, "source_mask": MASK, "target": TARGET})
    assert logits.shape == (3, 3, 9)
    assert "source" not in made.vocabularies


SLOW = pytest.param("int8", marks=pytest.mark.slow)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", SLOW])
def test_half_precision_and_int8(policy):
    quantized = policy == "int8"
    keras.config.set_dtype_policy("float32" if quantized else policy)
    try:
        made = model(PretrainedEncoder(hub.bert()))
    finally:
        keras.config.set_dtype_policy("float32")
    if quantized:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about layers without products
            made.quantize("int8")
    logits = made(INPUTS)
    assert np.isfinite(flat([logits])[0]).all()
    same(flat([logits]), flat([save_and_load(made)(INPUTS)]), 0, policy)
