"""Logits of both heads: numbers, masks, dropout, tied embeddings."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seqattn.layers.deep_output_head import DeepOutputHead
from keras_seqattn.layers.output_head import OutputHead
from keras_seqattn.testing.contract import save_and_load

VOCABULARY, UNITS, DEPTH, EMBEDDING = 11, 4, 6, 5
MASK = np.array([[1, 1, 0], [1, 0, 0]], bool)
EMBEDDED = [None, DEPTH, 4]  # a matrix of its own, a tied one, one of another depth


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def embedding_of(depth, **options):
    return keras.layers.ReversibleEmbedding(VOCABULARY, depth, **options)


def randomized(head, *shapes):
    """The head, built, with weights that are nowhere all zero."""
    head.build(*shapes)
    random = np.random.default_rng(1)
    head.set_weights([random.normal(size=w.shape) for w in head.get_weights()])
    return head


def made(embedded=None, **options):
    embedding = embedding_of(embedded) if embedded else None
    head = OutputHead(VOCABULARY, embedding=embedding, **options)
    return randomized(head, (None, None, DEPTH))


def deep(pieces=2, embedding=None, **options):
    head = DeepOutputHead(VOCABULARY, UNITS, pieces, embedding=embedding, **options)
    return randomized(head, (None, None, DEPTH), (None, None, EMBEDDING))


def logits_by_hand(head, x):
    if head.embedding is None:
        x = x @ np.asarray(head.projection.kernel)
    else:
        if head.to_embedding is not None:
            x = x @ np.asarray(head.to_embedding.kernel)
        x = x @ np.asarray(head.embedding.embeddings).T
    return x if head.bias is None else x + np.asarray(head.bias)


def deep_by_hand(head, outputs, inputs):
    """t~ = g(U_o s + C_o c + V_o E y); t[j] = max of its pieces, neighbours; W_o t."""
    weights = [head.from_outputs.kernel, head.from_inputs.kernel, head.from_inputs.bias]
    of_outputs, of_inputs, bias = map(np.asarray, weights)
    pieces = outputs @ of_outputs + inputs @ of_inputs + bias
    if keras.activations.serialize(head.activation) == "tanh":
        pieces = np.tanh(pieces)
    pieces = pieces.reshape(*pieces.shape[:-1], UNITS, head.pieces)
    return logits_by_hand(head.head, pieces.max(axis=-1))


def close(received, expected):
    np.testing.assert_allclose(received, expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("use_bias", [True, False])
@pytest.mark.parametrize("embedded", EMBEDDED)
def test_numbers(embedded, use_bias):
    head, outputs = made(embedded, use_bias=use_bias), normal(2, 3, DEPTH)
    close(head(outputs), logits_by_hand(head, outputs))
    assert len(head.weights) == 1 + use_bias + (embedded == 4)


@pytest.mark.parametrize("activation", [None, "tanh"])
@pytest.mark.parametrize("pieces", [1, 2, 5])
def test_deep_numbers(pieces, activation):
    head = deep(pieces, activation=activation)
    given = normal(2, 3, DEPTH), normal(2, 3, EMBEDDING)
    close(head(*given), deep_by_hand(head, *given))


@pytest.mark.parametrize("depth", [UNITS, EMBEDDING])
def test_deep_tied_numbers(depth):
    head = deep(embedding=embedding_of(depth))
    assert (head.head.to_embedding is None) == (depth == UNITS)
    given = normal(2, 3, DEPTH), normal(2, 3, EMBEDDING)
    close(head(*given), deep_by_hand(head, *given))


@pytest.mark.parametrize(("pieces", "has_maximum"), [(1, False), (2, True)])
def test_one_piece_takes_no_maximum(pieces, has_maximum):
    function = tf.function(deep(pieces).__call__)
    given = tf.zeros((2, 3, DEPTH)), tf.zeros((2, 3, EMBEDDING))
    graph = function.get_concrete_function(*given).graph
    assert ("Max" in {op.type for op in graph.get_operations()}) == has_maximum


HEADS = {
    **{f"embedded_{n}": (lambda n=n: made(n), (DEPTH,)) for n in EMBEDDED},
    "deep": (deep, (DEPTH, EMBEDDING)),
}


@pytest.mark.parametrize("axes", [(2,), (2, 4), (2, 4, 3)])
@pytest.mark.parametrize("name", HEADS)
def test_single_steps_beams_and_sequences_are_one(name, axes):
    make, depths = HEADS[name]
    head, given = make(), [normal(*axes, depth) for depth in depths]
    logits = head(*given)
    assert tuple(logits.shape) == (*axes, VOCABULARY)
    shapes = [x.shape for x in given]
    assert head.compute_output_shape(*shapes) == (*axes, VOCABULARY)
    flat = head(*(x.reshape(-1, depth) for x, depth in zip(given, depths, strict=True)))
    np.testing.assert_allclose(np.reshape(logits, flat.shape), flat, rtol=0, atol=1e-5)


def test_dropout_on_the_outputs():
    """The logits are the outputs here: dropped, or 1 / 0.75."""
    head = OutputHead(
        50, use_bias=False, kernel_initializer="identity", dropout=0.25, seed=3
    )
    ones = np.ones((4, 100, 50), "float32")
    np.testing.assert_array_equal(head(ones), ones)
    first = np.asarray(head(ones, training=True))
    kept = first != 0
    np.testing.assert_allclose(first[kept], 1 / 0.75, rtol=1e-6)
    assert abs(np.mean(kept) - 0.75) < 0.02  # 20000 draws: 0.003 is one sigma
    assert np.any(head(ones, training=True) != first)  # every call draws anew
    twin = OutputHead.from_config(head.get_config())
    np.testing.assert_array_equal(twin(ones, training=True), first)


def test_dropout_on_the_readout():
    """t is all ones here, and the logits are t: dropped, or 1 / 0.75."""
    head = DeepOutputHead(
        UNITS, UNITS, kernel_initializer="zeros", dropout=0.25, seed=3
    )
    head.build((None, None, DEPTH), (None, None, EMBEDDING))
    head.from_inputs.bias.assign(np.ones(2 * UNITS))
    head.head.projection.kernel.assign(np.eye(UNITS))
    given = normal(40, 30, DEPTH), normal(40, 30, EMBEDDING)
    np.testing.assert_array_equal(head(*given), np.ones((40, 30, UNITS)))
    logits = np.asarray(head(*given, training=True))
    kept = logits != 0
    np.testing.assert_allclose(logits[kept], 1 / 0.75, rtol=1e-6)
    assert abs(np.mean(kept) - 0.75) < 0.03  # 4800 draws: 0.006 is one sigma


def test_logits_carry_the_mask_of_the_outputs():
    ids = np.array([[3, 4, 0], [5, 0, 0]])
    embedded = keras.layers.Embedding(9, DEPTH, mask_zero=True)(ids)
    np.testing.assert_array_equal(made()(embedded)._keras_mask, MASK)
    assert getattr(made()(normal(2, 3, DEPTH)), "_keras_mask", None) is None


@pytest.mark.parametrize("embedded", EMBEDDED)
def test_stock_loss_skips_the_padding(embedded):
    """Mean over real positions, and NaN in the padding changes nothing."""
    head, x = made(embedded), normal(2, 3, DEPTH)
    targets = np.random.default_rng(2).integers(0, VOCABULARY, MASK.shape)
    logits = logits_by_hand(head, x).astype("float64")
    logs = logits - np.log(np.sum(np.exp(logits), axis=-1, keepdims=True))
    chosen = np.take_along_axis(logs, targets[..., None], axis=-1)[..., 0]
    x[~MASK] = np.nan
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    received = loss(targets, head(x, mask=MASK))
    np.testing.assert_allclose(received, -np.mean(chosen[MASK]), rtol=1e-5)


IDS = np.array([[3, 4, 0], [5, 10, 2]])


def tied_model(embedded=DEPTH, is_deep=False):
    """A language model whose matrix reads and writes."""
    ids = keras.Input((None,), dtype="int32")
    embedding = embedding_of(embedded, mask_zero=True)
    read = embedding(ids)
    hidden = keras.layers.GRU(DEPTH, return_sequences=True)(read)
    if is_deep:
        head = DeepOutputHead(VOCABULARY, UNITS, embedding=embedding)
        return keras.Model(ids, head(hidden, read))
    return keras.Model(ids, OutputHead(VOCABULARY, embedding=embedding)(hidden))


def tied_parts(model):
    kind = keras.layers.ReversibleEmbedding
    [embedding] = [layer for layer in model.layers if isinstance(layer, kind)]
    return embedding, model.layers[-1]


@pytest.mark.parametrize(
    ("embedded", "is_deep"), [(DEPTH, False), (4, False), (EMBEDDING, True)]
)
def test_tied_matrix_is_one_weight_also_after_reload(embedded, is_deep):
    model = tied_model(embedded, is_deep)
    reloaded = save_and_load(model)
    for each in (model, reloaded):
        embedding, head = tied_parts(each)
        assert (head.head if is_deep else head).embedding is embedding
        shapes = [tuple(weight.shape) for weight in each.weights]
        assert shapes.count((VOCABULARY, embedded)) == 1
        assert each.count_params() == sum(int(np.prod(shape)) for shape in shapes)
    logits = model(IDS)
    np.testing.assert_array_equal(reloaded(IDS), logits)
    np.testing.assert_array_equal(logits._keras_mask, IDS != 0)


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
    x = normal(2, 3, DEPTH)
    close(head(x), x @ after.T + np.asarray(head.bias))


def test_int8_save_and_load_in_a_sequential():
    """There the path of the head begins with the model's name."""
    embedding = keras.layers.Embedding(VOCABULARY, DEPTH)
    model = keras.Sequential([embedding, OutputHead(VOCABULARY)])
    full = np.asarray(model(IDS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        model.quantize("int8")
    quantized = np.asarray(model(IDS))
    assert 0 < np.max(np.abs(quantized - full)) < 0.05 * np.max(np.abs(full))
    assert model.layers[-1].projection.kernel.dtype == "int8"
    reloaded = save_and_load(model)
    assert len(reloaded.weights) == len(model.weights)
    np.testing.assert_array_equal(reloaded(IDS), quantized)


def test_built_embedding_stays_as_it_is():
    embedding = embedding_of(DEPTH)
    embedding.build()
    before = keras.ops.convert_to_numpy(embedding.embeddings).copy()
    OutputHead(VOCABULARY, embedding=embedding).build((None, None, DEPTH))
    np.testing.assert_array_equal(before, embedding.embeddings)
