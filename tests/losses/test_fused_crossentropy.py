"""FusedCrossentropy, compared with SmoothedCrossentropy."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.layers.output_head import OutputHead
from keras_seqattn.ops.logits_extras import readout_of, token_losses_of

VOCABULARY, DEPTH = 11, 6
MASK = np.array([[1, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]], bool)
RNG = np.random.default_rng(4)
OUTPUTS = RNG.normal(size=(3, 4, DEPTH)).astype("float32")
INPUTS = RNG.normal(size=(3, 4, 3)).astype("float32")
LABELS = RNG.integers(VOCABULARY, size=(3, 4))
WEIGHTS = RNG.random((3, 4)).astype("float32")


def head(kind, **options):
    """Build a model whose weights are not zero."""
    embedding = None
    if kind.startswith("tied"):
        embedding = keras.layers.ReversibleEmbedding(
            VOCABULARY,
            4 if kind == "tied to another depth" else DEPTH,
            tie_weights=kind != "tied but not tied",
        )
    if kind == "deep":
        made = ks.layers.DeepOutputHead(VOCABULARY, 5, **options)
        made.build((None, None, DEPTH), (None, None, 3))
    else:
        made = OutputHead(
            VOCABULARY, embedding, use_bias=kind != "without bias", **options
        )
        made.build((None, None, DEPTH))
    random = np.random.default_rng(1)
    weights = [random.normal(size=w.shape) for w in made.get_weights()]
    made.set_weights(weights)
    return made


HEADS = [
    "plain",
    "without bias",
    "tied",
    "tied to another depth",
    "tied but not tied",
    "deep",
]


def logits_of(head, outputs=OUTPUTS, **options):
    inputs = [INPUTS] if head.__class__ is ks.layers.DeepOutputHead else []
    return head(outputs, *inputs, **options)


def value_and_gradients(loss, head, mask, weights, training=True):
    outputs = tf.constant(OUTPUTS)
    with tf.GradientTape() as tape:
        tape.watch(outputs)
        options = {} if mask is None else _mask(head, mask)
        logits = logits_of(head, outputs, training=training, **options)
        value = loss(LABELS, logits, weights)
    variables = [v.value for v in head.trainable_variables]
    found = tape.gradient(value, [outputs, *variables])
    return [value, *[x for x in found if x is not None]]


def _mask(head, mask):
    name = "outputs_mask" if isinstance(head, ks.layers.DeepOutputHead) else "mask"
    return {name: tf.constant(mask)}


def check_equal(received, expected, bound=1e-5):
    for a, b in zip(received, expected, strict=True):
        a, b = [tf.convert_to_tensor(x).numpy() for x in (a, b)]
        np.testing.assert_allclose(a, b, rtol=0, atol=bound * np.abs(b).max())


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("mask", [None, MASK], ids=["", "mask"])
@pytest.mark.parametrize("kind", HEADS)
def test_equals_the_loss_of_logits(kind, mask, weights):
    made = head(kind)
    expected = value_and_gradients(
        ks.losses.SmoothedCrossentropy(0.1), made, mask, weights
    )
    received = value_and_gradients(
        ks.losses.FusedCrossentropy(0.1), made, mask, weights
    )
    check_equal(received, expected)


def test_weights_of_whole_sentences():
    logits = logits_of(head("plain"))
    received = ks.losses.FusedCrossentropy()(LABELS, logits, WEIGHTS[:, 0])
    wide = np.broadcast_to(WEIGHTS[:, :1], LABELS.shape)
    expected = ks.losses.SmoothedCrossentropy(0.0)(LABELS, logits, wide)
    np.testing.assert_allclose(received, expected, rtol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("kind", ["plain", "tied", "deep"])
def test_half_precision(kind, policy):
    """As far from float32 as the loss of logits in half precision is, at most."""
    exact = value_and_gradients(
        ks.losses.SmoothedCrossentropy(0.1), head(kind), MASK, None
    )
    made = head(kind, dtype=policy)
    received = value_and_gradients(ks.losses.FusedCrossentropy(0.1), made, MASK, None)
    assert all(x.dtype == tf.float32 for x in received)
    check_equal(received, exact, 0.01 if policy == "mixed_float16" else 0.05)


def test_dropout_is_drawn_once():
    """The same draw in the readout as in the logits."""
    made = head("plain", dropout=0.5, seed=3)
    logits = logits_of(made, training=True)
    received = ks.losses.FusedCrossentropy()(LABELS, logits)
    expected = ks.losses.SmoothedCrossentropy(0.0)(LABELS, logits)
    np.testing.assert_allclose(received, expected, rtol=1e-5)


def test_metrics_read_what_the_loss_found():
    logits = logits_of(head("plain"), mask=tf.constant(MASK))
    twin = logits_of(head("plain"), mask=tf.constant(MASK))
    ks.losses.FusedCrossentropy(0.1)(LABELS, logits)
    assert token_losses_of(logits, LABELS) is not None
    for metric in (ks.metrics.TokenAccuracy, ks.metrics.Perplexity):
        found, computed = metric(), metric()
        found.update_state(LABELS, logits, WEIGHTS)
        computed.update_state(LABELS, twin, WEIGHTS)
        np.testing.assert_allclose(found.result(), computed.result(), rtol=1e-5)


def test_other_labels_are_not_mixed_up():
    logits = logits_of(head("plain"))
    ks.losses.FusedCrossentropy()(LABELS, logits)
    others = (LABELS + 1) % VOCABULARY
    metric = ks.metrics.TokenAccuracy()
    metric.update_state(others, logits)
    expected = np.mean(np.argmax(logits, axis=-1) == others)
    np.testing.assert_allclose(metric.result(), expected, rtol=1e-6)


def changed_heads():
    capped = keras.layers.ReversibleEmbedding(VOCABULARY, DEPTH, logit_soft_cap=0.5)
    capped.build()
    yield "soft cap", OutputHead(VOCABULARY, capped)
    yield "lora", OutputHead(VOCABULARY)
    yield "int8", OutputHead(VOCABULARY)


@pytest.mark.parametrize(
    ("how", "made"), [pytest.param(*x, id=x[0]) for x in changed_heads()]
)
def test_other_last_products_are_read_as_logits(how, made):
    made.build((None, None, DEPTH))
    if how == "lora":
        made.projection.enable_lora(2)
        made.projection.lora_kernel_b.assign(np.ones((2, VOCABULARY)))
    if how == "int8":
        made.projection.quantize("int8")
    logits = made(OUTPUTS)
    assert readout_of(logits) is None
    received = ks.losses.FusedCrossentropy(0.1)(LABELS, logits)
    expected = ks.losses.SmoothedCrossentropy(0.1)(LABELS, logits)
    np.testing.assert_array_equal(received, expected)


def test_logits_that_somebody_changed():
    logits = logits_of(head("plain")) / 2.0
    received = ks.losses.FusedCrossentropy()(LABELS, logits)
    expected = ks.losses.SmoothedCrossentropy(0.0)(LABELS, logits)
    np.testing.assert_array_equal(received, expected)


def test_config():
    loss = ks.losses.FusedCrossentropy(0.2, name="mine")
    twin = keras.losses.get(keras.losses.serialize(loss))
    assert isinstance(twin, ks.losses.FusedCrossentropy)
    assert (twin.label_smoothing, twin.name) == (0.2, "mine")
    assert twin.get_config() == loss.get_config()


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_smoothing_is_checked(rate):
    with pytest.raises(ValueError, match="FusedCrossentropy.*label_smoothing"):
        ks.losses.FusedCrossentropy(rate)


@pytest.mark.parametrize("shape", [(4,), (2, 2, 3)], ids=str)
def test_logits_of_another_rank(shape):
    """Logits without a target axis: the loss reads the logits."""
    outputs = RNG.normal(size=(*shape, DEPTH)).astype("float32")
    labels = RNG.integers(VOCABULARY, size=shape)
    logits = head("plain")(outputs)
    assert readout_of(logits) is not None
    expected = ks.losses.SmoothedCrossentropy(0.1)(labels, logits)
    assert ks.losses.FusedCrossentropy(0.1)(labels, logits) == expected
