"""Every encoder in front of every decoder: it learns, searches, and leaves the process.

    make proofs

`pytest` alone runs three of them.
"""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.testing.case import save_and_load
from keras_seqattn.testing.compare import flat, same
from tests.proofs.combinations import DECODERS, ENCODERS, VOCABULARY, combined
from tests.zoo.tasks import exact_match, random_pairs, train

D, LONGEST, ROUNDS, STEPS, EXACT = ks.decoding, 6, 6, 300, 0.95
QUICK = [("two-way", "transformer"), ("transformer", "bahdanau"), ("one-way", "luong")]
CASES = [
    pytest.param(*case, marks=() if case in QUICK else pytest.mark.proof)
    for case in itertools.product(ENCODERS, DECODERS)
]
pytestmark = pytest.mark.system


@pytest.mark.parametrize(("encoder", "decoder"), CASES)
def test_whole_and_steps_and_search(encoder, decoder):
    """Untrained, with weights large enough to write more than one word."""
    model = lively(combined(encoder, decoder))
    pairs = random_pairs(np.random.default_rng(1), "reverse", 7, LONGEST)
    inputs = {"source": pairs.source, "target": pairs.inputs}
    logits, alignments = model(inputs, return_attention_scores=True)
    state, memory = model.start(pairs.source)
    for t in range(LONGEST + 1):
        logits_t, alignment, state = model.step(pairs.inputs[:, t], state, memory)
        real = pairs.inputs[:, t] > 0
        whole = [np.array(logits)[real, t], np.take(alignments, t, axis=-2)[real]]
        stepped = [np.array(logits_t)[real], np.array(alignment)[real]]
        same(flat(whole), flat(stepped), 1e-4, f"step {t}")

    found = search(model, pairs.source)
    for n in range(2):
        scored = D.score(model, pairs.source, found.tokens[:, n])
        same(flat([scored.scores]), flat([found.scores[:, n]]), 1e-4, "scores")
        same(flat([scored.alignments]), flat([found.alignments[:, n]]), 1e-4, "beam")
    same(flat([save_and_load(model)(inputs)]), flat([logits]), 1e-6, "reloaded")


@pytest.mark.proof
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_shortlist_xla_and_files(encoder, decoder, tmp_path):
    """A list of all tokens changes nothing, nor XLA; files say the same."""
    model = lively(combined(encoder, decoder))
    source = random_pairs(np.random.default_rng(1), "reverse", 7, LONGEST).source
    found = search(model, source)
    everything = D.Shortlist(np.zeros((VOCABULARY, 1), "int32"), range(VOCABULARY))
    listed = search(model, source, shortlist=everything)
    same(flat([listed.scores]), flat([found.scores]), 1e-4, "shortlist")
    compiled = tf.function(search, jit_compile=True)(model, tf.constant(source))
    size = found.tokens.shape[-1]
    assert np.array_equal(compiled.tokens[..., :size], found.tokens)
    text = ks.text.Characters.learn(["abcdefghijkl"])
    made = ks.Translator(model, text, text, ks.Greedy(), max_length=8)
    texts = ["abc", "lkji", "", "fg"]
    expected = made.pipeline(texts).texts[:, 0].numpy().tolist()
    made.export(tmp_path / "served")
    served = tf.saved_model.load(tmp_path / "served")
    received = served.signatures["serving_default"](text=tf.constant(texts))["text"]
    assert received.numpy().tolist() == expected
    made.export_litert(tmp_path / "on_device.tflite", LONGEST + 2, 8)
    run = ks.export.litert_function(tmp_path / "on_device.tflite")
    assert [run([each])["texts"].ravel()[0] for each in texts] == expected


@pytest.mark.proof
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_learns_to_reverse(encoder, decoder):
    """In rounds, each with a learning rate that falls to zero, until it can."""
    keras.utils.set_random_seed(1409)
    model, random = combined(encoder, decoder), np.random.default_rng(1409)
    unseen = random_pairs(np.random.default_rng(1410), "reverse", 500, LONGEST)
    for number in range(1, ROUNDS + 1):
        train(model, random, "reverse", LONGEST, STEPS)
        exact = exact_match(model, unseen)
        print(f"{encoder}, {decoder}: {exact:.1%} exact after {number * STEPS} steps")
        if exact >= EXACT:
            break
    assert exact >= EXACT


@pytest.mark.proof
@pytest.mark.parametrize("other", DECODERS)
def test_ensembles_of_unlike_models(other):
    """Beside a Transformer; with all the weight on one model it is that one."""
    models = [lively(combined("transformer", "transformer"))]
    models.append(lively(combined("two-way", other)))
    source = random_pairs(np.random.default_rng(1), "reverse", 7, LONGEST).source

    for chosen, weights in ((0, [1, 0]), (1, [0, 1])):
        alone, together = (
            search(each, source)
            for each in (models[chosen], D.Ensemble(models, weights=weights))
        )
        same(flat([together.scores]), flat([alone.scores]), 1e-4, f"model {chosen}")
    both = search(D.Ensemble(models), source)
    scored = D.score(D.Ensemble(models), source, both.tokens[:, 0])
    same(flat([scored.scores]), flat([both.scores[:, 0]]), 1e-4, "both")


def search(model, source, **options):
    beam = ks.BeamSearch(3, n_best=2)
    return ks.decode(model, source, beam, max_length=8, **options)


def lively(model):
    random = np.random.default_rng(11)
    for weight in model.trainable_weights:
        noise = random.normal(size=weight.shape)
        weight.assign_add(0.2 * noise if len(weight.shape) > 1 else 0.1 * noise)
    return model
