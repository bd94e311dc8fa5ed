"""Reference and fast train the same model: every loss of 200 steps on Multi30k.

Rounding is all that differs, also with dropout: both have the same seeds. It grows a
thousandfold where attention sets in suddenly, so gnmt2016 is compared in float64.
KERAS_SEQATTN_DATA names the folder with the corpus.
"""

import os

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn import zoo

STEPS, BATCH, SEED = 200, 64, 1409
RATE = 4e-4  # at 1e-3 bahdanau2015, too, would differ from itself, by 1e-3
SIZES = {"source_vocabulary": 4000, "target_vocabulary": 4000}
SIZES |= {"embedding": 64, "units": 96}
ADDITIVE = {"attention_units": 96}
MODELS = {  # function, arguments, those of its dropout
    "bahdanau2015": ({**ADDITIVE, "maxout": 64}, {}),
    "luong2015": ({"layers": 2}, {"dropout": 0.3}),
    "gnmt2016": ({**ADDITIVE, "layers": 4}, {"dropout": 0.3}),
    "caglayan2017": (
        {**ADDITIVE, "tied": "all"},
        {"embedding_dropout": 0.3, "target_dropout": 0.3, "output_dropout": 0.5},
    ),
}
SUDDEN = "gnmt2016"
WITHOUT = [(name, {}, "float64" if name == SUDDEN else "float32") for name in MODELS]
DROPPED = [(name, rates, "float32") for name, (_, rates) in MODELS.items() if rates]


@pytest.fixture(scope="module")
def batches():
    if not os.environ.get("KERAS_SEQATTN_DATA"):
        pytest.skip("KERAS_SEQATTN_DATA names no folder with multi30k")
    train = ks.data.multi30k(tokenized=True).train
    size = SIZES["source_vocabulary"]
    text = ks.text.SentencePiece.learn(train.source + train.target, size, kind="bpe")
    pairs = ks.data.encode(train.select(range(STEPS * BATCH)), text, text)
    dataset = ks.data.batches(pairs, batch_size=BATCH, seed=SEED)
    return list(dataset.take(STEPS).as_numpy_iterator())


def losses(batches, name, rates, implementation):
    """Of each step, of a model whose layers have this implementation."""
    keras.utils.set_random_seed(SEED)
    options, _ = MODELS[name]
    model = getattr(zoo, name)(**SIZES, **options, **rates)
    chosen = [x for x in model._flatten_layers() if hasattr(x, "implementation")]
    assert chosen
    for layer in chosen:
        layer.implementation = implementation
    loss = "auto" if implementation == "auto" else ks.losses.SmoothedCrossentropy(0.0)
    model.compile(ks.optimizers.FusedAdam(RATE, global_clipnorm=1.0), loss)
    found = []
    for inputs, labels in batches:
        model.reset_metrics()
        found.append(model.train_on_batch(inputs, labels))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("name", "rates", "dtype"), WITHOUT + DROPPED)
def test_reference_and_fast(batches, name, rates, dtype):
    keras.config.set_floatx(dtype)
    keras.config.set_dtype_policy(dtype)
    fast = losses(batches, name, rates, "auto")
    reference = losses(batches, name, rates, "reference")
    assert reference[-20:].mean() < 0.8 * reference[:5].mean()  # it has learned
    difference = np.abs(fast - reference).max()
    print(f"{name}, {rates}, {dtype}: at most {difference:.1e}")
    assert difference <= 1e-4
