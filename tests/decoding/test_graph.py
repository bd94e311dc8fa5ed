"""The graph of a search: one trace, stock operations, no copies of the memory."""

import collections

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.decoding.fakes import SOURCE, STATES, VOCABULARY, TableModel, tables
from tests.decoding.real_models import SOURCE as IDS
from tests.decoding.real_models import known, seq2seq
from tests.structure.graphs import is_loop, loop_bodies, operations, products

LIMIT, SIZE = 6, STATES
SEARCHES = [
    ks.Greedy(no_repeat_ngram=2),
    ks.BeamSearch(3, n_best=2, length_penalty=0.6, coverage_penalty=0.1),
    ks.decoding.Sample(top_k=3, top_p=0.9, n_best=2, seed=1),
]


def kind(search):
    return type(search).__name__


class Counting(TableModel):
    def __init__(self):
        self.traces = 0

    def start(self, source):
        self.traces += 1  # only while tracing
        return super().start(source)


def rows(source, count):
    return {name: x[:count] for name, x in source.items()}


# One trace ----------------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES, ids=kind)
def test_one_trace_for_all_batches_and_limits(search):
    model = Counting()
    for seed, batch, limit in ((1, 3, 6), (2, 1, 6), (3, 7, 2), (4, 2, 9)):
        ks.decode(model, tables(seed, batch), search, max_length=limit)
    assert model.traces == 1
    equal = type(search).from_config(search.get_config())
    ks.decode(model, tables(5), equal, max_length=LIMIT)
    assert model.traces == 1  # equal searches share a graph


def test_two_traces_for_few_queries_and_for_many():
    """There is one graph that looks ahead and one that does not."""
    model = Counting()
    for limit in (1, 1000, 2, 1100, 4, 1200):
        ks.decode(model, tables(1), ks.Greedy(), max_length=limit)
    assert model.traces <= 2


@pytest.mark.parametrize(
    ("search", "batch", "limit", "is_ahead"),
    [
        (ks.Greedy(), 16, SIZE, True),
        (
            ks.Greedy(),
            17,
            SIZE,
            False,
        ),  # products have many rows without it
        (ks.BeamSearch(2), 17, SIZE, True),
        (ks.Greedy(), 16, SIZE - 1, False),  # fewer queries than positions
    ],
    ids=str,
)
def test_looks_ahead_where_it_pays(search, batch, limit, is_ahead):
    """The number of positions is that of the first tensor of the source: `SIZE`."""
    asked = []

    class Ahead(TableModel):
        def look_ahead(self, memory):
            asked.append(memory)
            return memory

    ks.decode(Ahead(), tables(1, batch), search, max_length=limit)
    assert bool(asked) is is_ahead


def test_scores_are_traced_once():
    model = known("bahdanau")
    traces = []

    class Model:
        def __call__(self, *args, **options):
            traces.append(1)
            return model(*args, **options)

    counting, targets = Model(), np.array([[5, 6, 2], [4, 2, 0]])
    for size in (1, 2):
        ks.decoding.score(counting, IDS[:size, : 5 - size], targets[:size, : size + 1])
    assert len(traces) == 1


def test_one_trace_for_all_prefixes():
    model, traces = Counting(), []
    for prefix in ([[3], [4]], [[3, 4, 5], [4, 0, 0]], [[0, 0], [0, 0]]):
        ks.decode(model, tables(1, 2), ks.Greedy(), LIMIT, prefix=np.array(prefix))
        traces.append(model.traces)
    assert traces == [1, 1, 1]


class CountingSeq2Seq(ks.Seq2Seq):
    traces = 0

    def start(self, source):
        CountingSeq2Seq.traces += 1
        return super().start(source)


def test_one_trace_for_all_source_lengths():
    """A real model, with limits that depend on the source."""
    config = seq2seq().get_config()
    model = CountingSeq2Seq.from_config(config)
    limit = ks.decoding.RelativeLength(1.0, plus=2)
    for shape in ((4, 6), (1, 6), (4, 3), (1, 1)):
        source = IDS[: shape[0], : shape[1]]
        ks.decode(model, source, ks.BeamSearch(2), max_length=limit)
    assert CountingSeq2Seq.traces == 1


# Ways to call it ----------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES, ids=kind)
@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "xla"])
def test_inside_a_function(search, jit_compile):
    """The target axis is then `max_length`, so that XLA can compile it."""
    source, model = tables(1), TableModel()
    function = tf.function(
        lambda source: ks.decode(model, source, search, max_length=LIMIT),
        jit_compile=jit_compile,
        autograph=False,
    )
    for count in (3, 1):
        received = function(rows(source, count))
        expected = ks.decode(model, rows(source, count), search, max_length=LIMIT)
        assert received.tokens.shape == (count, search.n_best, LIMIT)
        size = expected.tokens.shape[-1]
        if jit_compile and isinstance(search, ks.decoding.Sample):
            continue  # XLA has another random generator
        np.testing.assert_array_equal(received.tokens[..., :size], expected.tokens)
        np.testing.assert_allclose(received.scores, expected.scores, atol=1e-5)
        np.testing.assert_allclose(received.ranking, expected.ranking, atol=1e-5)
        np.testing.assert_allclose(
            received.alignments[:, :, :size], expected.alignments, atol=1e-6
        )
        assert not received.tokens.numpy()[..., size:].any()
        assert not received.alignments.numpy()[:, :, size:].any()


@pytest.mark.slow
def test_a_seq2seq_under_xla():
    search = ks.BeamSearch(3, n_best=2, length_penalty=0.6, coverage_penalty=0.1)
    model = known("coverage")
    function = tf.function(
        lambda source: ks.decode(model, source, search, max_length=LIMIT),
        jit_compile=True,
    )
    received = function(IDS)
    expected = ks.decode(model, IDS, search, max_length=LIMIT)
    np.testing.assert_array_equal(
        received.tokens[..., : expected.tokens.shape[-1]], expected.tokens
    )
    np.testing.assert_allclose(received.scores, expected.scores, atol=1e-4)


def test_unknown_shapes_inside_a_function():
    signature = {
        "table": tf.TensorSpec([None, STATES, VOCABULARY]),
        "look": tf.TensorSpec([None, None, SOURCE]),
        "mask": tf.TensorSpec([None, None], tf.bool),
    }
    model = TableModel()
    prefix = tf.TensorSpec([None, None], tf.int32)

    @tf.function(input_signature=[signature, prefix])
    def function(source, prefix):
        return ks.decode(model, source, SEARCHES[1], LIMIT, prefix=prefix)

    for batch in (1, 4):
        source, prefix = tables(batch, batch), np.full([batch, 1], 4, "int32")
        received = function(source, prefix)
        expected = ks.decode(model, source, SEARCHES[1], LIMIT, prefix=prefix)
        np.testing.assert_allclose(received.scores, expected.scores, atol=1e-5)
        assert (received.tokens[:, 0, 0] == 4).numpy().all()


def test_one_graph_runs_in_an_eager_call():
    """An eager call runs the search as a graph, too."""
    source = {k: tf.constant(v) for k, v in tables(1).items()}
    model = TableModel()
    ks.decode(model, source, ks.Greedy(), max_length=LIMIT)
    tensors = ks.decode(model, source, ks.Greedy(), max_length=LIMIT)
    assert all(isinstance(x, tf.Tensor) for x in tensors)


# What is in the graph -----------------------------------------------------------------

# Every dimension has another size, so that a shape tells which tensor it is.
BATCH, BEAM, SENTENCE, HIDDEN, UNITS, LENGTH = 3, 5, 17, 13, 7, 19
MEMORY = 2 * 11
COPIES = ("Tile", "GatherV2", "GatherNd", "BroadcastTo", "ConcatV2", "Pack")


def beam_graph(attention):
    embedding = keras.layers.Embedding(23, 6)
    model = ks.Seq2Seq(
        embedding,
        ks.BiEncoder(11),
        ks.AttentionDecoder(ks.layers.BahdanauCell(UNITS, attention)),
        ks.layers.OutputHead(23),
        bridge=ks.layers.DenseBridge(UNITS),
    )
    search = ks.BeamSearch(BEAM, coverage_penalty=0.1, no_repeat_ngram=2)
    function = tf.function(
        lambda source: ks.decode(model, source, search, max_length=LENGTH),
        autograph=False,
    )
    spec = tf.TensorSpec([BATCH, SENTENCE], tf.int32)
    return function.get_concrete_function(spec).graph


@pytest.fixture(scope="module")
def additive():
    return beam_graph(ks.BahdanauAttention(HIDDEN))


def shapes(graph):
    for op in operations(graph):
        for output in op.outputs:
            if output.shape.rank is not None:
                yield op, tuple(output.shape.as_list())


def test_only_stock_operations(additive):
    """TF Serving needs this (TF #22133, google/seq2seq #354, OpenNMT-tf #533)."""
    types = {op.type for op in operations(additive)}
    assert "MatMul" in types and types & {"While", "StatelessWhile"}
    assert not {t for t in types if "PyFunc" in t}
    assert not {t for t in types if not hasattr(tf.raw_ops, t)}


def search_loop(graph):
    """Return the loop that has the products of a step in it, and its body."""
    loops = [op for op in operations(graph, enter_loops=False) if is_loop(op)]
    bodies = loop_bodies(graph)
    [loop] = [
        (loop, body)
        for loop, body in zip(loops, bodies, strict=True)
        if any(23 in p.right for p in products(operations(body)))  # the head
    ]
    return loop


def test_memory_is_never_copied_for_the_beam(additive):
    """All hypotheses of a sentence share one memory and its keys."""
    sizes = [s for _, s in shapes(additive)]
    assert (BATCH, SENTENCE, MEMORY) in sizes and (BATCH, SENTENCE, HIDDEN) in sizes
    for op, shape in shapes(additive):
        in_beam = BEAM in shape or BATCH * BEAM in shape
        copied = in_beam and SENTENCE in shape
        assert not (copied and MEMORY in shape), (op.type, shape)
        if copied and HIDDEN in shape:  # tanh(query + key) of every hypothesis
            assert op.type not in COPIES, (op.type, shape)


def test_memory_enters_the_loop_once(additive):
    loop, body = search_loop(additive)
    entering = collections.Counter(tuple(x.shape.as_list()) for x in loop.inputs)
    assert entering[BATCH, SENTENCE, MEMORY] == 1
    assert entering[BATCH, SENTENCE, HIDDEN] == 1
    outputs = [x for x in body.outputs if x.op.type not in ("Placeholder", "Identity")]
    assert (BATCH, SENTENCE, MEMORY) not in [tuple(x.shape.as_list()) for x in outputs]


def test_keys_are_projected_once(additive):
    """AttentionKeras, google/seq2seq and the tutorial project them at every step."""
    key_kernel = (MEMORY, HIDDEN)
    _, body = search_loop(additive)
    assert key_kernel not in [p.right for p in products(operations(body))]
    outside = products(operations(additive, enter_loops=False))
    assert [p.right for p in outside].count(key_kernel) == 1


def test_a_copy_would_be_seen():
    """The check above fails for a memory that is repeated for the beam."""
    function = tf.function(lambda x: tf.tile(x[:, None], [1, BEAM, 1, 1]) + 1.0)
    spec = tf.TensorSpec([BATCH, SENTENCE, MEMORY])
    graph = function.get_concrete_function(spec).graph
    with pytest.raises(AssertionError, match="Tile"):
        for op, shape in shapes(graph):
            assert not (BEAM in shape and MEMORY in shape), (op.type, shape)
