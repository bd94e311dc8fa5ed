"""`Seq2Seq`: whole sequences, single steps, and training."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.decoding.real_models import SOURCE, SOURCE_VOCABULARY, seq2seq
from tests.layers.encoder_cases import MAKERS
from tests.models.seq2seq_cases import CELLS, INPUTS, LABELS, TARGET, array, tied
from tests.system.small_model import token_mean

# Whole and step by step ---------------------------------------------------------------


def test_steps_are_the_whole(model):
    logits, alignments = model(INPUTS, return_attention_scores=True)
    state, memory = model.start(SOURCE)
    for t in range(TARGET.shape[1]):
        step = model.step(TARGET[:, t], state, memory)
        real = TARGET[:, t] != 0
        state = step.state
        np.testing.assert_allclose(
            array(step.output)[real], array(logits)[real, t], atol=1e-5
        )
        np.testing.assert_allclose(
            array(step.alignment)[real], array(alignments)[real, ..., t, :], atol=1e-6
        )


def test_beams_share_a_memory(model):
    """Tokens `[batch, beam]` use the memory of the sentence."""
    state, memory = model.start(SOURCE)
    tokens = np.array([[4, 7], [5, 5], [9, 3], [1, 8]])
    both = keras.tree.map_structure(lambda x: tf.stack([x, x], axis=1), state)
    together = model.step(tokens, both, memory)
    for place in range(2):
        alone = model.step(tokens[:, place], state, memory)
        np.testing.assert_allclose(together.output[:, place], alone.output, atol=1e-5)
        np.testing.assert_allclose(
            together.alignment[:, place], alone.alignment, atol=1e-6
        )


def test_a_memory_of_some_sentences(model):
    _, memory = model.start(SOURCE)
    _, expected = model.start(SOURCE[[2, 0]])
    keras.tree.map_structure(
        lambda x, y: np.testing.assert_allclose(x, y, atol=1e-6),
        model.select(memory, [2, 0]),
        expected,
    )


def test_logits_carry_the_mask_of_the_target(model):
    logits, _ = model(INPUTS, return_attention_scores=True)
    np.testing.assert_array_equal(logits._keras_mask, TARGET != 0)
    np.testing.assert_array_equal(model(INPUTS)._keras_mask, TARGET != 0)
    assert logits.shape == (4, 5, model.head.vocabulary_size)


def test_alignments_with_heads():
    _, alignments = seq2seq("heads")(INPUTS, return_attention_scores=True)
    assert alignments.shape == (4, 2, 5, 6)
    assert not (array(alignments) * (SOURCE == 0)[:, None, None]).any()


def test_padding_does_not_matter():
    model = seq2seq()
    logits = array(model(INPUTS))
    longer = {name: np.pad(x, [(0, 0), (0, 3)]) for name, x in INPUTS.items()}
    padded = array(model(longer))[:, :5]
    real = TARGET != 0
    np.testing.assert_allclose(padded[real], logits[real], atol=1e-5)


def test_another_id_for_padding():
    """With padding 12, the id 0 is a word."""
    model = seq2seq(pad=12)
    source = np.where(SOURCE == 0, 12, np.where(SOURCE == 12, 0, SOURCE))
    target = np.where(TARGET == 0, 11, TARGET)
    logits = model({"source": source, "target": target})
    assert logits._keras_mask.numpy().all()
    shorter = model({"source": source[2:3, :2], "target": target[2:3]})
    np.testing.assert_allclose(array(logits)[2:3], array(shorter), atol=1e-5)


def test_functional_model():
    """A model works as a layer of a Functional model, with its mask."""
    inner = seq2seq()
    inputs = {name: keras.Input((None,), dtype="int32", name=name) for name in INPUTS}
    outer = keras.Model(inputs, inner(inputs))
    np.testing.assert_array_equal(array(outer(INPUTS)), array(inner(INPUTS)))


# Parts --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bahdanau", "deep_head", "joint"])
def test_everything_is_built_in_the_constructor(name):
    model = CELLS[name]()
    before = [v.path for v in model.variables]
    assert model.built and before
    model(INPUTS)
    ks.decode(model, SOURCE, ks.Greedy(), max_length=2)
    assert [v.path for v in model.variables] == before
    assert len({v.path for v in model.trainable_variables}) == len(
        model.trainable_variables
    )


@pytest.mark.parametrize("ways", [2, 3])
def test_tied_embeddings_are_one(ways):
    model = tied(ways)
    assert model.head.embedding is model.target_embedding
    assert (model.source_embedding is model.target_embedding) == (ways == 3)
    matrices = [v for v in model.variables if v.shape == (SOURCE_VOCABULARY, 5)]
    assert len(matrices) == 4 - ways
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(INPUTS) ** 2)
    gradient = tape.gradient(loss, model.head.embedding.embeddings.value)
    gradient = tf.convert_to_tensor(gradient)
    assert np.abs(gradient).sum(axis=-1).all()  # every token, through the head


def test_summary():
    """The summary names each part and its parameters."""
    lines = []
    seq2seq().summary(print_fn=lambda line, **_: lines.append(line))
    text = "\n".join(lines)
    for words in ("Embedding", "BiEncoder", "AttentionDecoder", "OutputHead"):
        assert words in text
    assert "unbuilt" not in text and "?" not in text
    assert f"{seq2seq().count_params():,} parameters" in text
    assert max(map(len, lines)) <= 88


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_summary_of_keras(make):
    """Keras takes an attribute `layers` of any layer for a list of layers."""
    cell = ks.layers.GNMTCell(3, ks.BahdanauAttention(3), "gru", layers=2)
    embedding, encoder = keras.layers.Embedding(9, 4), make(cell="gru")
    bridge, decoder = ks.layers.CopyBridge(layers=[-1]), ks.AttentionDecoder(cell)
    parts = embedding, encoder, decoder, ks.layers.OutputHead(9)
    model, lines = ks.Seq2Seq(*parts), []
    model.bridge = bridge  # with the state of this encoder, whatever the cell wants
    model.summary(print_fn=lambda text, **_: lines.append(text), expand_nested=True)
    assert type(encoder).__name__ in "".join(lines)
    for layer in (encoder, cell, bridge):
        assert layer.get_config()["layers"] and not hasattr(layer, "layers")


@pytest.mark.parametrize("side", ["source", "target"])
def test_word_dropout_in_training_only(side):
    """Embeddings of whole words become zero on one side."""
    plain, dropping = seq2seq(), seq2seq(**{f"{side}_word_dropout": 0.5})
    for one, other in zip(
        plain.trainable_variables, dropping.trainable_variables, strict=True
    ):
        other.assign(one)
    np.testing.assert_array_equal(array(plain(INPUTS)), array(dropping(INPUTS)))
    np.testing.assert_array_equal(
        array(plain(INPUTS, training=False)), array(dropping(INPUTS, training=False))
    )
    assert not np.allclose(array(plain(INPUTS)), array(dropping(INPUTS, training=True)))
    layer = getattr(dropping, f"{side}_words")
    words = array(layer(np.ones([8, 9, 5], "float32"), training=True))
    assert set(np.unique(words)) == {0.0, 2.0}
    assert (words == words[..., :1]).all()  # whole words
    assert 0.2 < (words == 0).mean() < 0.8
    logits = [m.step(TARGET[:, 1], *m.start(SOURCE)).output for m in (plain, dropping)]
    np.testing.assert_array_equal(*logits)  # a search is no training


def test_word_dropout_of_both_sides_differs():
    keras.utils.set_random_seed(1)
    config = seq2seq().get_config()
    rates = {"source_word_dropout": 0.5, "target_word_dropout": 0.5, "seed": 4}
    model = ks.Seq2Seq.from_config({**config, **rates})
    ones = np.ones([6, 7, 5], "float32")
    masks = [
        array(layer(ones, training=True))
        for layer in (model.source_words, model.target_words)
    ]
    assert not np.array_equal(*masks)


def test_words_are_dropped_in_the_precision_of_the_model():
    """The global policy at loading does not matter."""
    config = seq2seq().get_config()
    keras.config.set_dtype_policy("mixed_bfloat16")
    model = ks.Seq2Seq.from_config(config)
    for layer in (model.source_words, model.target_words):
        assert layer.compute_dtype == model.encoder.compute_dtype == "float32"


# Trained ------------------------------------------------------------------------------


def test_the_stock_loss_is_the_token_mean():
    model = seq2seq()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(loss=loss, jit_compile=False)
    expected = token_mean(model(INPUTS), LABELS, TARGET != 0)
    loss = model.evaluate(INPUTS, LABELS, batch_size=4, verbose=0)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


def test_every_weight_learns(model):
    with tf.GradientTape() as tape:
        logits = model(INPUTS, training=True)
        loss = keras.losses.sparse_categorical_crossentropy(
            LABELS % model.head.vocabulary_size, logits, from_logits=True
        )
        loss = tf.reduce_mean(loss)
    gradients = tape.gradient(loss, [v.value for v in model.trainable_variables])
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        assert gradient is not None, variable.path
        assert np.all(np.isfinite(tf.convert_to_tensor(gradient))), variable.path


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision(policy):
    full = seq2seq()
    keras.config.set_dtype_policy(policy)
    model = seq2seq()
    keras.config.set_dtype_policy("float32")
    model.set_weights(full.get_weights())
    assert {v.dtype for v in model.variables if "seed" not in v.path} == {"float32"}
    expected = array(full(INPUTS))
    received = model(INPUTS)
    assert received.dtype.name == policy.removeprefix("mixed_")
    worst = np.abs(array(received) - expected)[TARGET != 0].max()
    assert worst < 0.1 * np.abs(expected).max()
    search = ks.BeamSearch(3, n_best=2, length_penalty=0.6, coverage_penalty=0.1)
    decoded = ks.decode(model, SOURCE, search, max_length=5)
    assert decoded.scores.dtype == decoded.alignments.dtype == tf.float32
    scored = ks.decoding.score(model, SOURCE, decoded.tokens[:, 0])
    np.testing.assert_allclose(scored.scores, decoded.scores[:, 0], rtol=0.02, atol=0.1)
