"""Weights in fewer bytes: what is written, and what a graph or Keras reads."""

import gc
import itertools
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.export.stored_weights import StoredWeights, quantized
from tests.export import models, parity
from tests.zoo.rows import NAMES

SIZE = SimpleNamespace(vocabulary_size=300)
IDS = np.array([[5, 6, 299, 7, 2], [8, 9, 2, 0, 0]], "int32")
SPECS = [tf.TensorSpec([None, None], tf.int32)] * 2
QUICK = ("int8", "caglayan2017")
EACH = [
    each if each == QUICK else pytest.param(*each, marks=pytest.mark.slow)
    for each in itertools.product(["bfloat16", "int8"], NAMES)
]


def model_of(name):
    return models.model(name, SIZE, SIZE)


def traced(model, stored):
    @tf.function(input_signature=SPECS, autograph=False)
    def call(source, target):
        with stored.read():
            found = ks.decode(model, source, ks.BeamSearch(2), max_length=4)
            scored = ks.decoding.score(model, source, target)
        return {"tokens": found.tokens, "scores": found.scores, "score": scored.scores}

    return call.get_concrete_function()


def arrays(model):
    return [tf.convert_to_tensor(variable).numpy() for variable in model.variables]


@pytest.mark.parametrize("kind, name", EACH)
def test_a_graph_reads_what_is_stored(kind, name):
    """It says what a model says that has these weights; the model stays as it is."""
    model = model_of(name)
    before, stored = arrays(model), StoredWeights(model, kind)
    graph = traced(model, stored)
    found = graph(IDS, IDS)
    check_casts(graph.graph.as_graph_def(), stored)
    with stored.read():
        rounded = arrays(model)
    assert [array.tobytes() for array in arrays(model)] == [x.tobytes() for x in before]
    for variable, array, old in zip(model.variables, rounded, before, strict=True):
        assert (array.size < 1024) == (array.tobytes() == old.tobytes())
        variable.assign(array)
    with parity.eagerly():
        expected = ks.decode(model, IDS, ks.BeamSearch(2), max_length=4)
        scored = ks.decoding.score(model, IDS, IDS).scores
    tokens = found["tokens"][:, :, : expected.tokens.shape[2]]
    np.testing.assert_array_equal(tokens, expected.tokens)
    np.testing.assert_allclose(found["scores"], expected.scores, atol=1e-4)
    np.testing.assert_allclose(found["score"], scored, atol=1e-4)


def test_int8_by_hand():
    """Rows err less, of the other matrix columns; nothing is divided by zero."""
    value = np.array([[127, -100, 50], [0.3, 0.2, -0.1], [0, 0, 0]], "float32")
    expected = [[127, -100, 50], [127, 85, -42], [0, 0, 0]]
    steps, scale = quantized(value)
    np.testing.assert_allclose(scale, [[1], [0.3 / 127], [0]])
    assert steps.dtype == "int8" and steps.tolist() == expected
    steps, scale = quantized(value.T)
    assert scale.shape == (1, 3) and steps.T.tolist() == expected


@pytest.mark.parametrize("shape", [(40, 30), (7, 11, 13)])
def test_int8_errs_by_half_a_step(shape):
    value = np.random.default_rng(1).normal(size=shape).astype("float32")
    value *= np.arange(1, shape[-1] + 1)  # columns of all sizes
    steps, scale = quantized(value)
    assert scale.shape == (*[1] * (len(shape) - 1), shape[-1])
    assert (np.abs(steps * scale - value) <= scale / 2 * (1 + 1e-5)).all()
    assert np.abs(steps).max() == 127


@pytest.mark.parametrize("kind, part", [("bfloat16", 0.51), ("int8", 0.28)])
def test_bytes_on_the_disk(tmp_path, kind, part):
    """About this part of the bytes; biases and other small things in float32."""
    model = model_of("luong2015")
    small = written(model, kind, tmp_path / kind)
    assert sum(x.nbytes for x in small) < part * sum(x.nbytes for x in arrays(model))
    sizes = {str(x.dtype): x.size for x in sorted(small, key=lambda x: x.size)}
    assert sizes["float32"] < 1024 < sizes[kind]


def written(model, kind, folder):
    """The arrays in the checkpoint of a SavedModel that reads all weights."""
    module = tf.Module()
    module.stored = StoredWeights(model, kind)

    @tf.function(input_signature=[], autograph=False)
    def call():
        with module.stored.read():
            values = map(tf.convert_to_tensor, model.variables)
            sums = [tf.reduce_sum(tf.cast(value, tf.float32)) for value in values]
            return {"sum": tf.add_n(sums)}

    tf.saved_model.save(module, folder, signatures=call.get_concrete_function())
    file = tf.train.load_checkpoint(folder / "variables" / "variables")
    names = file.get_variable_to_shape_map()
    return [file.get_tensor(n) for n in names if n.endswith("VARIABLE_VALUE")]


def check_casts(graph, stored):
    """No step pays: what is stored becomes float32 outside of the loops."""
    inside = [node for function in graph.library.function for node in function.node_def]
    count = sum(variable.dtype == tf.int8 for variable in stored.variables)
    assert (casts_of_int8(graph.node), casts_of_int8(inside)) == (count, 0)


def casts_of_int8(nodes):
    int8 = tf.int8.as_datatype_enum
    return sum(node.op == "Cast" and node.attr["SrcT"].type == int8 for node in nodes)


def test_float32_is_the_model_itself_an_ensemble_is_all_its_models():
    model = model_of("luong2015")
    stored = StoredWeights(model)
    assert [id(v) for v in stored.variables] == [id(v.value) for v in model.variables]
    models = [model_of("luong2015"), model_of("luong2015")]
    ensemble = ks.decoding.Ensemble(models)
    both, one = (StoredWeights(x, "int8").stored for x in (ensemble, models[0]))
    assert len(both) == 2 * len(one)
    assert StoredWeights(object(), "int8").variables == ()


OPTIONS = {"caglayan2017": {"tied": "all"}, "luong2015": {"window": "local-p"}}
SENTENCES = models.sentences(6)
TEXT = ks.text.Characters.learn(SENTENCES)


def translator(name, **options):
    """One vocabulary for both sides: some models tie their embeddings."""
    model = models.model(name, TEXT, TEXT, **options)
    search = ks.Greedy(min_length=5)  # an eager search cannot shrink its batch
    return ks.Translator(model, TEXT, TEXT, search, max_length=5)


def by_keras(translator):
    gc.freeze()  # Keras collects garbage after every layer
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        translator.model.quantize("int8")
    gc.unfreeze()
    return translator


@pytest.mark.parametrize(
    "name",
    [n if n == QUICK[1] else pytest.param(n, marks=pytest.mark.slow) for n in NAMES],
)
def test_saved_and_loaded(name, tmp_path):
    made = by_keras(translator(name, **OPTIONS.get(name, {})))
    made.save(tmp_path / "small")
    loaded = ks.Translator.load(tmp_path / "small")
    with parity.eagerly():
        expected, found = made(SENTENCES), loaded(SENTENCES)
    kinds = [variable.dtype for variable in made.model.variables]
    assert [variable.dtype for variable in loaded.model.variables] == kinds
    assert kinds.count("int8") > 4
    assert found.texts == expected.texts and len(set(found.texts)) > 1
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.alignment, other.alignment, atol=1e-5)


def test_embeddings_and_products_are_int8():
    """Keras's own recurrent cells stay float32: an export stores them in int8, too."""
    made = translator("bahdanau2015")
    before = sum(weight.nbytes for weight in made.model.get_weights())
    by_keras(made)
    assert sum(weight.nbytes for weight in made.model.get_weights()) < 0.75 * before
    large = [v for v in made.model.variables if len(v.shape) > 1 and v.dtype != "int8"]
    assert {"encoder" in variable.path for variable in large} == {True}
