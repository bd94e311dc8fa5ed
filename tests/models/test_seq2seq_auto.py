"""`compile(loss="auto")`: the same training, without the logits."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.ops.logits import readout_of
from keras_seqattn.testing.contract import save_and_load
from tests.decoding.real_models import seq2seq
from tests.models.seq2seq_cases import INPUTS, LABELS, TARGET, deep_head, tied

MODELS = {"deep": deep_head, "tied": lambda: tied(3)}
WEIGHTS = np.random.default_rng(3).random(LABELS.shape).astype("float32")


def compiled(model, loss="auto", optimizer=None, **options):
    optimizer = optimizer or keras.optimizers.SGD(0.5)
    metrics = [ks.metrics.TokenAccuracy(), ks.metrics.Perplexity()]
    model.compile(optimizer, loss, weighted_metrics=metrics, **options)
    return model


def history(model):
    """Return the history of two epochs, an evaluation, and the final weights."""
    data = dict(x=INPUTS, y=LABELS, sample_weight=WEIGHTS, verbose=0)
    history = model.fit(**data, epochs=2).history
    history["evaluate"] = model.evaluate(**data)
    return {**history, **dict(enumerate(model.get_weights()))}


def check_same(received, expected, atol=2e-5):
    assert received.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(
            received[name], value, rtol=1e-4, atol=atol, err_msg=name
        )


@pytest.mark.parametrize(("name", "jit"), [("deep", True), ("tied", False)])
def test_trains_as_with_logits(name, jit):
    """Also with masks, sample weights, metrics and tied embeddings."""
    model = compiled(MODELS[name](), ks.losses.SmoothedCrossentropy(0.1))
    expected = history(model)
    model = compiled(MODELS[name](), ks.losses.FusedCrossentropy(0.1), jit_compile=jit)
    check_same(history(model), expected)
    assert model.jit_compile == jit


def test_predictions_are_logits():
    model, twin = compiled(seq2seq()), seq2seq()
    received = model.predict(INPUTS, verbose=0)
    np.testing.assert_allclose(received, twin(INPUTS), atol=1e-5)


def functional():
    """A Functional model that ends in a head of the library."""
    keras.utils.set_random_seed(4)
    inputs = {name: keras.Input((None,), dtype="int32", name=name) for name in INPUTS}
    source, target = [keras.layers.Embedding(13, 5, mask_zero=True) for _ in range(2)]
    encoded = ks.BiEncoder(4, cell="gru")(source(inputs["source"]))
    cell = ks.layers.BahdanauCell(8, ks.BahdanauAttention(4))
    outputs = ks.AttentionDecoder(cell)(target(inputs["target"]), encoded.values)
    return keras.Model(inputs, ks.layers.OutputHead(13)(outputs))


def test_a_functional_model_trains_without_logits():
    model = functional()
    assert readout_of(model(INPUTS)) is not None
    stock = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    expected = history(compiled(model, stock))
    received = history(compiled(functional(), ks.losses.FusedCrossentropy()))
    check_same(received, expected)


class Sharp(ks.Seq2Seq):
    """A model that adds its own loss of the alignments."""

    def call(self, inputs, training=None):
        logits, alignments = super().call(inputs, True, training)
        self.add_loss(0.1 * keras.ops.mean(alignments**2))
        return logits


@pytest.mark.slow  # Keras adds them to any loss
def test_losses_that_a_model_adds():
    def model():
        return Sharp.from_config(seq2seq().get_config())

    weights = model().get_weights()
    histories = []
    for loss in ("auto", ks.losses.SmoothedCrossentropy(0.0)):
        made = compiled(model(), loss)
        made.set_weights(weights)
        histories.append(history(made))
    check_same(*histories)


@pytest.mark.slow  # Keras's trainer does both, around the loss
@pytest.mark.parametrize("how", ["accumulated", "eager"])
def test_ways_of_training(how):
    histories = []
    for loss in ("auto", ks.losses.SmoothedCrossentropy(0.0)):
        optimizer, eager = None, how == "eager"
        if how == "accumulated":
            optimizer = keras.optimizers.Adam(gradient_accumulation_steps=2)
        made = compiled(seq2seq(), loss, optimizer, run_eagerly=eager)
        histories.append(history(made))
    check_same(*histories)


@pytest.mark.parametrize(
    "policy", ["mixed_float16", pytest.param("mixed_bfloat16", marks=pytest.mark.slow)]
)
def test_half_precision_learns(policy):
    keras.config.set_dtype_policy(policy)
    model = compiled(seq2seq(), optimizer=ks.optimizers.FusedAdam(0.02))
    loss = model.fit(INPUTS, LABELS, epochs=4, verbose=0).history["loss"]
    assert np.all(np.isfinite(loss)) and loss[-1] < loss[0]


def test_another_metric_gets_its_logits():
    model = seq2seq()
    model.compile("sgd", "auto", metrics=["accuracy"])
    logs = model.evaluate(INPUTS, LABELS, verbose=0, return_dict=True)
    right = np.argmax(model(INPUTS), axis=-1) == LABELS
    np.testing.assert_allclose(logs["accuracy"], right[TARGET != 0].mean(), rtol=1e-6)


def test_save_and_load():
    model = compiled(seq2seq(), ks.losses.FusedCrossentropy(0.1))
    twin = save_and_load(model)
    assert isinstance(twin.loss, ks.losses.FusedCrossentropy)
    assert twin.loss.label_smoothing == 0.1
    assert twin.optimizer.built
    np.testing.assert_allclose(
        twin.evaluate(INPUTS, LABELS, verbose=0),
        model.evaluate(INPUTS, LABELS, verbose=0),
        rtol=1e-6,
    )


# Operations in the graph --------------------------------------------------------------


def graph_of(step, loss="auto"):
    """Return the operations of a step whose results are used."""
    model = compiled(seq2seq(), loss)
    model.optimizer.build(model.trainable_variables)
    data = (INPUTS, LABELS, WEIGHTS)
    traced = tf.function(getattr(model, step), autograph=False)
    graph = traced.get_concrete_function(data).graph
    wanted = [x.op for x in graph.structured_outputs.values()]
    wanted += [op for op in graph.get_operations() if "Assign" in op.type]
    seen = set()
    while wanted:
        op = wanted.pop()
        if op not in seen:
            seen.add(op)
            wanted += [*[x.op for x in op.inputs], *op.control_inputs]
    return model.head.vocabulary_size, seen


def makes_logits(vocabulary, operations):
    shapes = [tuple(x.shape) for op in operations for x in op.outputs if x.shape.rank]
    return (*TARGET.shape, vocabulary) in shapes


def kinds_in_loops(operations):
    loops = [op for op in operations if op.type in ("While", "StatelessWhile")]
    bodies = [op.graph._get_function(op.get_attr("body").name) for op in loops]
    return {node.op for body in bodies for node in body.cached_definition.node_def}


@pytest.mark.parametrize("step", ["train_step", "test_step"])
def test_logits_never_exist(step):
    """An evaluation computes no gradient, either."""
    vocabulary, operations = graph_of(step)
    assert not makes_logits(vocabulary, operations)
    kinds = kinds_in_loops(operations)
    assert "ArgMax" in kinds
    assert ("TensorScatterSub" in kinds) == (step == "train_step")


def test_the_loss_of_logits_makes_logits():
    assert makes_logits(*graph_of("test_step", ks.losses.SmoothedCrossentropy()))
