"""The graph of a search: one trace, no copies of the memory; it sees new weights."""

import collections
import dataclasses
import gc
import warnings
import weakref
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.decoding import loop
from keras_seqattn.decoding.decoded import build_decoded
from tests.decoding import fakes
from tests.decoding.fakes import END, MODEL, STATES, Counting, Speller, tables
from tests.decoding.real_models import SOURCE as IDS
from tests.decoding.real_models import VOCABULARY, seq2seq
from tests.decoding.results import assert_same, check_scores, forced_log_probs
from tests.structure.graphs import is_loop, loop_bodies, operations, products

LIMIT = 6
SEARCHES = [
    ks.Greedy(no_repeat_ngram=2),
    ks.BeamSearch(3, n_best=2, length_penalty=0.6, coverage_penalty=0.1),
    ks.decoding.Sample(top_k=3, top_p=0.9, n_best=2, seed=1),
]


def kind(search):
    return type(search).__name__


def rows(source, count):
    return {name: x[:count] for name, x in source.items()}


@pytest.mark.parametrize("search", SEARCHES, ids=kind)
def test_one_trace_for_all_batches_and_limits(search):
    model = Counting()
    equal = type(search).from_config(search.get_config())  # equal ones share a graph
    for seed, batch, limit in ((1, 3, 6), (2, 1, 6), (3, 7, 2), (4, 2, 9)):
        ks.decode(model, tables(seed, batch), equal, max_length=limit)
        equal = search
    assert model.traces == 1


def test_one_trace_for_all_prefixes_two_for_few_queries_and_for_many():
    model = Counting()
    for prefix in ([[3], [4]], [[3, 4, 5], [4, 0, 0]], [[0, 0], [0, 0]]):
        ks.decode(model, tables(1, 2), ks.Greedy(), LIMIT, prefix=np.array(prefix))
    assert model.traces == 1
    # There is one graph that looks ahead and one that does not.
    model = Counting()
    for limit in (1, 1000, 2, 1100, 4, 1200):
        ks.decode(model, tables(1), ks.Greedy(), max_length=limit)
    assert model.traces <= 2


@pytest.mark.parametrize(
    ("search", "batch", "limit", "is_ahead"),
    [
        (ks.Greedy(), 16, STATES, True),
        (ks.Greedy(), 17, STATES, False),  # products have many rows without it
        (ks.BeamSearch(2), 17, STATES, True),
        (ks.Greedy(), 16, STATES - 1, False),  # fewer queries than positions
    ],
    ids=str,
)
def test_precomputes_where_it_pays(search, batch, limit, is_ahead):
    """The number of positions is that of the first tensor of the source: `STATES`."""
    asked = []

    class Ahead(fakes.TableModel):
        def precompute(self, memory):
            asked.append(memory)
            return memory

    ks.decode(Ahead(), tables(1, batch), search, max_length=limit)
    assert bool(asked) is is_ahead


class CountingSeq2Seq(ks.Seq2Seq):
    traces = 0

    def start(self, source):
        self.traces += 1
        return super().start(source)


def test_one_trace_for_all_source_lengths():
    """Of searches and of scores; limits depend on the source."""
    model = CountingSeq2Seq.from_config(seq2seq().get_config())
    limit = ks.decoding.RelativeLength(1.0, plus=2)
    for batch, size in ((4, 6), (1, 6), (4, 3), (1, 1)):
        ks.decode(model, IDS[:batch, :size], ks.BeamSearch(2), max_length=limit)
    assert model.traces == 1

    class Scorer:
        traces = 0

        def __call__(self, *args, **options):
            self.traces += 1
            return model(*args, **options)

    scorer, targets = Scorer(), np.array([[5, 6, 2], [4, 2, 0]])
    for size in (1, 2):
        ks.decoding.score(scorer, IDS[:size, : 5 - size], targets[:size, : size + 1])
    assert scorer.traces == 1


def test_steps_that_are_not_taken_cost_nothing(monkeypatch):
    sizes, search = [], ks.BeamSearch(3, n_best=2)
    source = np.array([[5, 6, END], [7, END, 0]])

    def watched(search, now, mask, steps, pad, records):
        lengths = [tf.shape(x)[0] for x in keras.tree.flatten(records)]
        taken = [steps, *lengths]
        tf.py_function(lambda x: sizes.append(x.numpy().tolist()), [taken], [])
        return build_decoded(search, now, mask, steps, pad, records)

    expected = ks.decode(Speller(), source, search, max_length=9)
    monkeypatch.setattr(loop, "build_decoded", watched)
    received = ks.decode(Speller(), source, search, max_length=5000)
    [(steps, *lengths)] = sizes
    assert steps < 10 and lengths == [steps] * len(lengths)
    assert_same(received, expected, atol=0)


@pytest.mark.parametrize("search", SEARCHES, ids=kind)
@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "xla"])
def test_inside_a_function(search, jit_compile):
    """The target axis is then `max_length`, so that XLA can compile it."""
    source = tables(1)

    def decoded(source):
        return ks.decode(MODEL, source, search, max_length=LIMIT)

    function = tf.function(decoded, jit_compile=jit_compile, autograph=False)
    for count in (3, 1):
        received = function(rows(source, count))
        assert received.tokens.shape == (count, search.n_best, LIMIT)
        if jit_compile and isinstance(search, ks.decoding.Sample):
            continue  # XLA has another random generator
        assert_same(received, decoded(rows(source, count)))


def test_unknown_shapes_inside_a_function():
    signature = {
        "table": tf.TensorSpec([None, STATES, fakes.VOCABULARY]),
        "look": tf.TensorSpec([None, None, fakes.SOURCE]),
        "mask": tf.TensorSpec([None, None], tf.bool),
    }
    prefix = tf.TensorSpec([None, None], tf.int32)

    @tf.function(input_signature=[signature, prefix])
    def function(source, prefix):
        return ks.decode(MODEL, source, SEARCHES[1], LIMIT, prefix=prefix)

    for batch in (1, 4):
        source, prefix = tables(batch, batch), np.full([batch, 1], 4, "int32")
        expected = ks.decode(MODEL, source, SEARCHES[1], LIMIT, prefix=prefix)
        assert_same(function(source, prefix), expected)


# Every dimension has another size, so that a shape tells which tensor it is.
BATCH, BEAM, SENTENCE, HIDDEN, UNITS, LENGTH = 3, 5, 17, 13, 7, 19
MEMORY = 2 * 11
COPIES = ("Tile", "GatherV2", "GatherNd", "BroadcastTo", "ConcatV2", "Pack")


@pytest.fixture(scope="module")
def graph():
    cell = ks.layers.BahdanauCell(UNITS, ks.BahdanauAttention(HIDDEN))
    parts = keras.layers.Embedding(23, 6), ks.BiEncoder(11), ks.AttentionDecoder(cell)
    options = {"bridge": ks.layers.DenseBridge(UNITS)}
    model = ks.Seq2Seq(*parts, ks.layers.OutputHead(23), **options)
    search = ks.BeamSearch(BEAM, coverage_penalty=0.1, no_repeat_ngram=2)
    function = tf.function(
        lambda source: ks.decode(model, source, search, max_length=LENGTH),
        autograph=False,
    )
    spec = tf.TensorSpec([BATCH, SENTENCE], tf.int32)
    return function.get_concrete_function(spec).graph


def shapes(graph):
    for op in operations(graph):
        for output in op.outputs:
            if output.shape.rank is not None:
                yield op, tuple(output.shape.as_list())


def test_only_stock_operations(graph):
    """TF Serving needs this (TF #22133, google/seq2seq #354, OpenNMT-tf #533)."""
    types = {op.type for op in operations(graph)}
    assert "MatMul" in types and types & {"While", "StatelessWhile"}
    assert not {t for t in types if "PyFunc" in t}
    assert not {t for t in types if not hasattr(tf.raw_ops, t)}


def search_loop(graph):
    loops = [op for op in operations(graph, enter_loops=False) if is_loop(op)]
    bodies = list(loop_bodies(graph))
    is_step = [any(23 in p.right for p in products(operations(b))) for b in bodies]
    assert is_step.count(True) == 1  # the loop with the product of the head
    return loops[is_step.index(True)], bodies[is_step.index(True)]


def test_memory_is_never_copied_enters_the_loop_once_and_keys_too(graph):
    sizes = [s for _, s in shapes(graph)]
    assert (BATCH, SENTENCE, MEMORY) in sizes and (BATCH, SENTENCE, HIDDEN) in sizes
    for op, shape in shapes(graph):
        in_beam = BEAM in shape or BATCH * BEAM in shape
        copied = in_beam and SENTENCE in shape
        assert not (copied and MEMORY in shape), (op.type, shape)
        if copied and HIDDEN in shape:  # tanh(query + key) of every hypothesis
            assert op.type not in COPIES, (op.type, shape)
    loop, body = search_loop(graph)
    entering = collections.Counter(tuple(x.shape.as_list()) for x in loop.inputs)
    assert entering[BATCH, SENTENCE, MEMORY] == 1
    assert entering[BATCH, SENTENCE, HIDDEN] == 1
    outputs = [x for x in body.outputs if x.op.type not in ("Placeholder", "Identity")]
    assert (BATCH, SENTENCE, MEMORY) not in [tuple(x.shape.as_list()) for x in outputs]
    # AttentionKeras, google/seq2seq and the tutorial project them at every step.
    key_kernel = (MEMORY, HIDDEN)
    _, body = search_loop(graph)
    assert key_kernel not in [p.right for p in products(operations(body))]
    outside = products(operations(graph, enter_loops=False))
    assert [p.right for p in outside].count(key_kernel) == 1


def check(model):
    decoded = ks.decode(model, IDS, ks.Greedy(), max_length=LIMIT)
    expected = forced_log_probs(model, decoded.tokens.numpy()[:, 0]).sum(axis=1)
    np.testing.assert_allclose(decoded.scores[:, 0], expected, atol=1e-4)
    return decoded


def test_weights_of_fit_and_quantised_ones_are_seen():
    model = seq2seq()
    check_scores(model, before := check(model))
    target = np.random.default_rng(1).integers(3, VOCABULARY - 1, (4, 5))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.5), loss, jit_compile=False)
    model.fit({"source": IDS, "target": target}, target + 1, epochs=2, verbose=0)
    check_scores(model, trained := check(model))
    assert not np.allclose(before.scores, trained.scores)
    # The old graph would still use the variables before the quantisation.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        model.quantize("int8")
    assert not np.array_equal(trained.scores, check(model).scores)


def test_a_part_without_weights_is_seen():
    model = seq2seq()
    model.bridge = None
    before = ks.decode(model, IDS, ks.Greedy(), max_length=LIMIT)
    units = model.decoder.cell.units

    class Ones(ks.layers.Bridge):
        def call(self, encoded):
            ones = keras.ops.ones((keras.ops.shape(encoded.values)[0], units))
            return [ones, ones]

    model.bridge = Ones()
    after = ks.decode(model, IDS, ks.Greedy(), max_length=LIMIT)
    assert not np.allclose(before.scores, after.scores)


def test_models_can_be_collected():
    models = [fakes.TableModel(), ks.decoding.Ensemble([seq2seq()])]
    for model, source in zip(models, (tables(1), IDS), strict=True):
        ks.decode(model, source, ks.BeamSearch(2), max_length=LIMIT)
    models.append(models[1].models[0])
    ks.decoding.score(models[2], IDS, np.array([[5, 2]] * len(IDS)))
    gone = [weakref.ref(model) for model in models]
    del model, models
    gc.collect()
    assert [reference() for reference in gone] == [None] * 3


@dataclasses.dataclass
class Unhashable(fakes.TableModel):
    name: Any = "mine"


def test_a_model_without_a_hash():
    source = tables(1)
    decoded = ks.decode(Unhashable(), source, ks.Greedy(), max_length=LIMIT)
    expected = ks.decode(MODEL, source, ks.Greedy(), max_length=LIMIT)
    np.testing.assert_array_equal(decoded.tokens, expected.tokens)
