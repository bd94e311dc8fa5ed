"""Logits: numbers, masks, tying, single steps, saving and quantising."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.layers.output_head import OutputHead
from keras_seqattn.testing.contract import save_and_load
from tests.layers.head_cases import logits_by_hand

VOCABULARY, DEPTH = 11, 6
MASK = np.array([[1, 1, 0], [1, 0, 0]], bool)
EMBEDDED = [None, DEPTH, 4]  # a matrix of its own, a tied one, one of another depth


def outputs(*shape):
    shape = shape or (2, 3, DEPTH)
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def made(embedded=None, use_bias=True, **options):
    """A head with weights that are nowhere all zero."""
    embedding = None
    if embedded:
        embedding = keras.layers.ReversibleEmbedding(VOCABULARY, embedded)
    head = OutputHead(VOCABULARY, embedding=embedding, use_bias=use_bias, **options)
    head.build((None, None, DEPTH))
    random = np.random.default_rng(1)
    head.set_weights([random.normal(size=w.shape) for w in head.get_weights()])
    return head


@pytest.mark.parametrize("use_bias", [True, False])
@pytest.mark.parametrize("embedded", EMBEDDED)
def test_numbers(embedded, use_bias):
    head = made(embedded, use_bias)
    np.testing.assert_allclose(
        head(outputs()), logits_by_hand(head, outputs()), rtol=0, atol=1e-5
    )
    assert len(head.weights) == 1 + use_bias + (embedded == 4)


@pytest.mark.parametrize("embedded", EMBEDDED)
@pytest.mark.parametrize("shape", [(2, DEPTH), (2, 5, DEPTH), (2, 5, 3, DEPTH)])
def test_single_steps_beams_and_sequences_are_one(shape, embedded):
    head, x = made(embedded), outputs(*shape)
    received = head(x)
    assert tuple(received.shape) == (*shape[:-1], VOCABULARY)
    assert head.compute_output_shape(shape) == (*shape[:-1], VOCABULARY)
    flat = head(x.reshape(-1, DEPTH))
    np.testing.assert_allclose(
        np.reshape(received, flat.shape), flat, rtol=0, atol=1e-5
    )


def unit_head(units, **options):
    """Its logits are the outputs, as far as dropout leaves them."""
    head = OutputHead(units, use_bias=False, kernel_initializer="identity", **options)
    head.build((None, None, units))
    return head


def test_dropout_on_the_outputs():
    head, ones = unit_head(50, dropout=0.25, seed=3), np.ones((4, 100, 50), "float32")
    np.testing.assert_array_equal(head(ones), ones)
    first = np.asarray(head(ones, training=True))
    kept = first != 0
    np.testing.assert_allclose(first[kept], 1 / 0.75, rtol=1e-6)
    assert abs(np.mean(kept) - 0.75) < 0.02  # 20000 draws: 0.003 is one sigma
    assert np.any(head(ones, training=True) != first)  # every call draws anew
    twin = OutputHead.from_config(head.get_config())
    np.testing.assert_array_equal(twin(ones, training=True), first)


def test_logits_carry_an_explicit_mask():
    np.testing.assert_array_equal(made()(outputs(), mask=MASK)._keras_mask, MASK)


def test_logits_carry_an_implicit_mask():
    ids = np.array([[3, 4, 0], [5, 0, 0]])
    embedded = keras.layers.Embedding(9, DEPTH, mask_zero=True)(ids)
    np.testing.assert_array_equal(made()(embedded)._keras_mask, MASK)
    assert getattr(made()(outputs()), "_keras_mask", None) is None


@pytest.mark.parametrize("embedded", EMBEDDED)
def test_stock_loss_skips_the_padding(embedded):
    """Mean over real positions, and NaN in the padding changes nothing."""
    head, x = made(embedded), outputs()
    targets = np.random.default_rng(2).integers(0, VOCABULARY, MASK.shape)
    logits = logits_by_hand(head, x).astype("float64")
    logs = logits - np.log(np.sum(np.exp(logits), axis=-1, keepdims=True))
    chosen = np.take_along_axis(logs, targets[..., None], axis=-1)[..., 0]
    x[~MASK] = np.nan
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    received = loss(targets, head(x, mask=MASK))
    np.testing.assert_allclose(received, -np.mean(chosen[MASK]), rtol=1e-5)


def tied_model(embedded=DEPTH, head=OutputHead):
    """A language model whose matrix reads and writes."""
    ids = keras.Input((None,), dtype="int32")
    embedding = keras.layers.ReversibleEmbedding(VOCABULARY, embedded, mask_zero=True)
    hidden = keras.layers.GRU(DEPTH, return_sequences=True)(embedding(ids))
    return keras.Model(ids, OutputHead(VOCABULARY, embedding=embedding)(hidden))


def tied_parts(model):
    embedding = next(
        layer
        for layer in model.layers
        if isinstance(layer, keras.layers.ReversibleEmbedding)
    )
    return embedding, model.layers[-1]


IDS = np.array([[3, 4, 0], [5, 10, 2]])


def test_tied_matrix_is_one_weight():
    model = tied_model()
    embedding, head = tied_parts(model)
    assert head.embedding is embedding
    shapes = [tuple(weight.shape) for weight in model.weights]
    assert shapes.count((VOCABULARY, DEPTH)) == 1
    assert model.count_params() == sum(int(np.prod(shape)) for shape in shapes)


@pytest.mark.parametrize("embedded", EMBEDDED[1:])
def test_still_tied_after_reload(embedded):
    model = tied_model(embedded)
    reloaded = save_and_load(model)
    embedding, head = tied_parts(reloaded)
    assert head.embedding is embedding
    assert len(reloaded.weights) == len(model.weights)
    np.testing.assert_array_equal(reloaded(IDS), model(IDS))


@pytest.mark.parametrize("reload", [False, True])
def test_training_moves_both_ends(reload):
    model = save_and_load(tied_model()) if reload else tied_model()
    embedding, head = tied_parts(model)
    before = keras.ops.convert_to_numpy(embedding.embeddings).copy()
    model.compile(
        keras.optimizers.SGD(1.0),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(IDS, IDS, epochs=1, verbose=0)
    after = np.asarray(embedding.embeddings)
    assert np.all(np.any(after != before, axis=-1))  # even what was never an input
    np.testing.assert_array_equal(embedding(IDS), after[IDS])
    x = outputs()
    expected = x @ after.T + np.asarray(head.bias)
    np.testing.assert_allclose(head(x), expected, rtol=0, atol=1e-5)


def test_gradient_is_the_sum_of_both_uses():
    embedding = keras.layers.ReversibleEmbedding(VOCABULARY, DEPTH)
    head = OutputHead(VOCABULARY, embedding=embedding)
    ids = tf.constant([[1, 2]])
    head(embedding(ids))

    def gradient(read, write):
        with tf.GradientTape() as tape:
            x = embedding(ids)
            x = x if read else tf.stop_gradient(x)
            w = tf.convert_to_tensor(embedding.embeddings)
            logits = head(x) if write else x @ tf.stop_gradient(tf.transpose(w))
            loss = tf.reduce_sum(tf.square(logits))
        return tf.convert_to_tensor(
            tape.gradient(loss, embedding.embeddings.value)
        ).numpy()

    np.testing.assert_allclose(
        gradient(True, True), gradient(True, False) + gradient(False, True), rtol=1e-5
    )


@pytest.mark.parametrize("embedded", EMBEDDED)
def test_int8_save_and_load(embedded):
    model = tied_model(embedded) if embedded else sequential_model()
    full, real = np.asarray(model(IDS)), IDS != 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        model.quantize("int8")
    # In Keras 3.15 a quantised ReversibleEmbedding forgets its mask: real ones only.
    quantized = np.asarray(model(IDS))
    error = np.max(np.abs(quantized - full)[real])
    assert 0 < error < 0.05 * np.max(np.abs(full))
    head = model.layers[-1]
    matrix = (
        head.projection.kernel if head.embedding is None else head.embedding.embeddings
    )
    assert matrix.dtype == "int8"
    reloaded = save_and_load(model)
    assert len(reloaded.weights) == len(model.weights)
    np.testing.assert_array_equal(reloaded(IDS), quantized)


def sequential_model():
    """In a Sequential the path of the head begins with the model's name."""
    model = keras.Sequential(
        [keras.layers.Embedding(VOCABULARY, DEPTH), OutputHead(VOCABULARY)]
    )
    model.build((None, None))
    return model


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("embedded", EMBEDDED)
def test_half_precision(embedded, policy):
    """Logits in the head's compute dtype, whatever that of the embedding."""
    head = made(embedded, dtype=policy)
    logits = head(outputs())
    assert logits.dtype.name == head.compute_dtype != "float32"
    error = np.asarray(tf.cast(logits, "float32")) - logits_by_hand(head, outputs())
    assert np.max(np.abs(error)) < (0.02 if policy == "mixed_float16" else 0.2)


def test_built_embedding_stays_as_it_is():
    embedding = keras.layers.ReversibleEmbedding(VOCABULARY, DEPTH)
    embedding.build()
    before = keras.ops.convert_to_numpy(embedding.embeddings).copy()
    OutputHead(VOCABULARY, embedding=embedding).build((None, None, DEPTH))
    np.testing.assert_array_equal(before, embedding.embeddings)
