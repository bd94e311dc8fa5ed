"""FusedCrossentropy, compared with SmoothedCrossentropy."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.layers.output_head import OutputHead
from keras_seqattn.ops.logits import readout_of, token_losses_of

VOCABULARY, DEPTH = 11, 6
MASK = np.array([[1, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]], bool)
RNG = np.random.default_rng(4)
OUTPUTS = RNG.normal(size=(3, 4, DEPTH)).astype("float32")
INPUTS = RNG.normal(size=(3, 4, 3)).astype("float32")
LABELS = RNG.integers(VOCABULARY, size=(3, 4))
WEIGHTS = RNG.random((3, 4)).astype("float32")


def head(kind, **options):
    embedding, ties = None, kind != "tied but not tied"
    if kind.startswith("tied"):
        depth = 4 if kind == "tied to another depth" else DEPTH
        embedding = keras.layers.ReversibleEmbedding(VOCABULARY, depth, ties)
    if kind == "deep":
        made = ks.layers.DeepOutputHead(VOCABULARY, 5, **options)
        made.build((None, None, DEPTH), (None, None, 3))
    else:
        options = {"use_bias": kind != "without bias", **options}
        made = OutputHead(VOCABULARY, embedding, **options)
        made.build((None, None, DEPTH))
    random = np.random.default_rng(1)
    made.set_weights([random.normal(size=w.shape) for w in made.get_weights()])
    return made


HEADS = ["plain", "without bias", "deep"]
HEADS += ["tied", "tied to another depth", "tied but not tied"]


def logits_of(head, outputs=OUTPUTS, mask=None, **options):
    is_deep = isinstance(head, ks.layers.DeepOutputHead)
    if mask is not None:
        options["outputs_mask" if is_deep else "mask"] = tf.constant(mask)
    return head(outputs, *[INPUTS] * is_deep, **options)


def value_and_gradients(loss, head, mask, weights):
    outputs = tf.constant(OUTPUTS)
    with tf.GradientTape() as tape:
        tape.watch(outputs)
        value = loss(LABELS, logits_of(head, outputs, mask, training=True), weights)
    variables = [v.value for v in head.trainable_variables]
    found = tape.gradient(value, [outputs, *variables])
    return [value, *[x for x in found if x is not None]]


def check_equal(received, expected, bound=1e-5):
    for a, b in zip(received, expected, strict=True):
        a, b = [tf.convert_to_tensor(x).numpy() for x in (a, b)]
        np.testing.assert_allclose(a, b, rtol=0, atol=bound * np.abs(b).max())


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("mask", [None, MASK], ids=["", "mask"])
@pytest.mark.parametrize("kind", HEADS)
def test_equals_the_loss_of_logits(kind, mask, weights):
    made = head(kind)
    received, expected = (
        value_and_gradients(loss(0.1), made, mask, weights)
        for loss in (ks.losses.FusedCrossentropy, ks.losses.SmoothedCrossentropy)
    )
    check_equal(received, expected)


def same_loss(logits, weights=None, expected_weights=None, labels=LABELS):
    """As that of the logits; bit by bit if it reads them."""
    reads_logits = readout_of(logits) is None or len(logits.shape) != 3
    received = ks.losses.FusedCrossentropy(0.1)(labels, logits, weights)
    expected = ks.losses.SmoothedCrossentropy(0.1)(labels, logits, expected_weights)
    np.testing.assert_allclose(received, expected, rtol=0 if reads_logits else 1e-5)


def test_weights_of_whole_sentences():
    same_loss(logits_of(head("plain")), WEIGHTS[:, 0], WEIGHTS[:, :1] + 0 * LABELS)


@pytest.mark.parametrize("shape", [(4,), (2, 2, 3)], ids=str)
def test_logits_of_another_rank(shape):
    """Without a target axis, or with one of beams: the loss reads the logits."""
    logits = head("plain")(RNG.normal(size=(*shape, DEPTH)).astype("float32"))
    assert readout_of(logits) is not None
    same_loss(logits, labels=RNG.integers(VOCABULARY, size=shape))


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("kind", ["plain", "tied", "deep"])
def test_half_precision(kind, policy):
    """As far from float32 as the loss of logits in half precision is, at most."""
    stock = ks.losses.SmoothedCrossentropy(0.1)
    exact = value_and_gradients(stock, head(kind), MASK, None)
    made = head(kind, dtype=policy)
    received = value_and_gradients(ks.losses.FusedCrossentropy(0.1), made, MASK, None)
    assert all(x.dtype == tf.float32 for x in received)
    check_equal(received, exact, 0.01 if policy == "mixed_float16" else 0.05)


def test_dropout_is_drawn_once():
    """The same draw in the readout as in the logits."""
    same_loss(logits_of(head("plain", dropout=0.5, seed=3), training=True))


def test_metrics_read_what_the_loss_found_for_the_same_labels():
    logits = logits_of(head("plain"), mask=MASK)
    twin = logits_of(head("plain"), mask=MASK)
    ks.losses.FusedCrossentropy(0.1)(LABELS, logits)
    assert token_losses_of(logits, LABELS) is not None
    for metric in (ks.metrics.TokenAccuracy, ks.metrics.Perplexity):
        found, computed = metric(), metric()
        found.update_state(LABELS, logits, WEIGHTS)
        computed.update_state(LABELS, twin, WEIGHTS)
        np.testing.assert_allclose(found.result(), computed.result(), rtol=1e-5)
    logits = logits_of(head("plain"))
    ks.losses.FusedCrossentropy()(LABELS, logits)
    others = (LABELS + 1) % VOCABULARY
    metric = ks.metrics.TokenAccuracy()
    metric.update_state(others, logits)
    expected = np.mean(np.argmax(logits, axis=-1) == others)
    np.testing.assert_allclose(metric.result(), expected, rtol=1e-6)


@pytest.mark.parametrize("how", ["soft cap", "lora", "int8", "changed"])
def test_other_last_products_are_read_as_logits(how):
    embedding = None
    if how == "soft cap":
        options = {"logit_soft_cap": 0.5}
        embedding = keras.layers.ReversibleEmbedding(VOCABULARY, DEPTH, **options)
    made = OutputHead(VOCABULARY, embedding)
    made.build((None, None, DEPTH))
    if how == "lora":
        made.projection.enable_lora(2)
        made.projection.lora_kernel_b.assign(np.ones((2, VOCABULARY)))
    if how == "int8":
        made.projection.quantize("int8")
    logits = made(OUTPUTS) / 2.0 if how == "changed" else made(OUTPUTS)
    assert readout_of(logits) is None
    same_loss(logits)


def test_config():
    loss = ks.losses.FusedCrossentropy(0.2, name="mine")
    twin = keras.losses.get(keras.losses.serialize(loss))
    assert isinstance(twin, ks.losses.FusedCrossentropy)
    assert (twin.label_smoothing, twin.name) == (0.2, "mine")
    assert twin.get_config() == loss.get_config()
