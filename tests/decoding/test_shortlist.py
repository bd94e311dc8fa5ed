"""With a shortlist, few tokens have logits; nothing else changes."""

import dataclasses
import zipfile
from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from tests.decoding.real_models import (
    SOURCE,
    SOURCE_VOCABULARY,
    UNITS,
    VOCABULARY,
    known,
    seq2seq,
    wide,
)
from tests.structure.graphs import loop_bodies, operations, products

LIMIT = 6
NOTHING = np.full([SOURCE_VOCABULARY, 1], -1)
WHOLE = ks.decoding.Shortlist(NOTHING, range(VOCABULARY))
SIZE = 8
BEAM = ks.BeamSearch(3, n_best=2, length_penalty=0.6, coverage_penalty=0.2)
SEARCHES = [
    ks.Greedy(forbidden_tokens=(9, 5), min_length=3),
    dataclasses.replace(BEAM, no_repeat_ngram=2),
    ks.decoding.Sample(n_best=2, top_k=5, seed=1),
]


def some(size=SIZE, seed=1):
    """Return a shortlist with random translations of source tokens."""
    random = np.random.default_rng(seed)
    table = random.integers(4, VOCABULARY, [SOURCE_VOCABULARY, 2])
    return ks.decoding.Shortlist(
        table, random.permutation(VOCABULARY), common=1, size=size
    )


class Masked:
    """A model for which all tokens but the listed ones are impossible."""

    def __init__(self, model, ids):
        self.model, self.pad, self.start = model, model.pad, model.start
        bars = np.full(VOCABULARY, -np.inf, "float32")
        bars[ids] = 0.0
        self.bars = bars

    def step(self, tokens, state, memory):
        step = self.model.step(tokens, state, memory)
        return step._replace(output=step.output + self.bars)


def same(received, expected):
    for name, one, two in zip(expected._fields, received, expected, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-5, err_msg=name)


def check_masked(model, search, **options):
    """Check that a search with a shortlist equals one in which the others are -inf."""
    shortlist, forbidden = some(), search.forbidden_tokens
    ids = shortlist.ids(SOURCE, first=forbidden, prefix=options.get("prefix")).numpy()
    assert len(set(ids)) == SIZE
    received = ks.decode(model, SOURCE, search, LIMIT, shortlist=shortlist, **options)
    same(
        received,
        ks.decode(Masked(model, ids), SOURCE, search, LIMIT, **options),
    )
    assert set(np.unique(received.tokens)) <= set(ids)
    without = ks.decode(model, SOURCE, search, LIMIT, **options)
    assert not np.allclose(received.scores, without.scores)


# Searches -----------------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES, ids=str)
def test_of_the_whole_vocabulary(search):
    model = known("bahdanau")
    received = ks.decode(model, SOURCE, search, LIMIT, shortlist=WHOLE)
    expected = ks.decode(model, SOURCE, search, LIMIT)
    np.testing.assert_array_equal(received.tokens, expected.tokens)
    same(received, expected)


@pytest.mark.parametrize("search", SEARCHES[:2], ids=str)
def test_of_some_tokens(search):
    check_masked(known("coverage"), search)


def test_a_prefix_is_listed():
    missing = np.setdiff1d(range(VOCABULARY), some().ids(SOURCE))[:2]
    prefix = np.array([missing, [missing[1], 0], [0, 0], [4, missing[0]]])
    check_masked(known("bahdanau"), BEAM, prefix=prefix)


def test_tokens_are_drawn_from_the_list():
    search, ids = ks.decoding.Sample(n_best=50, seed=2), some().ids(SOURCE).numpy()
    decoded = ks.decode(known("bahdanau"), SOURCE, search, LIMIT, shortlist=some())
    assert set(np.unique(decoded.tokens)) == set(ids) - {1}  # without the start token


def test_finished_sentences_leave():
    """The nine sentences have very different limits."""
    model, source = known("bahdanau"), np.repeat(SOURCE, [1, 2, 5, 1], axis=0)
    limit = ks.decoding.RelativeLength(1.0)
    left, stayed = (
        ks.decode(model, source, BEAM, limit, leaving=leaving, shortlist=some())
        for leaving in (True, False)
    )
    same(left, stayed)


@pytest.mark.parametrize("leaving", [False, True])
def test_inside_a_function(leaving):
    model = known("bahdanau")

    @tf.function(
        input_signature=[tf.TensorSpec([None, None], tf.int32)], autograph=False
    )
    def decoded(source):
        return ks.decode(model, source, BEAM, LIMIT, leaving=leaving, shortlist=some())

    for count in (4, 2):
        received, source = decoded(SOURCE[:count]), SOURCE[:count]
        expected = ks.decode(model, source, BEAM, LIMIT, shortlist=some())
        size = expected.tokens.shape[-1]
        np.testing.assert_array_equal(received.tokens[..., :size], expected.tokens)
        np.testing.assert_allclose(received.scores, expected.scores, atol=1e-5)


@pytest.mark.slow
def test_under_xla():
    model = known("bahdanau")
    function = tf.function(
        lambda source: ks.decode(model, source, BEAM, LIMIT, shortlist=some()),
        jit_compile=True,
        autograph=False,
    )
    expected = ks.decode(model, SOURCE, BEAM, LIMIT, shortlist=some())
    received, size = function(SOURCE), expected.tokens.shape[-1]
    np.testing.assert_array_equal(received.tokens[..., :size], expected.tokens)


def test_one_graph_for_equal_lists():
    traces = []

    class Counting(ks.Seq2Seq):
        def start(self, source):
            traces.append(1)
            return super().start(source)

    model = Counting.from_config(seq2seq().get_config())
    for shortlist in (some(), some(), some(SIZE + 1)):
        ks.decode(model, SOURCE, ks.Greedy(), LIMIT, shortlist=shortlist)
    assert len(traces) == 2


def test_from_an_ensemble():
    ensemble = ks.decoding.Ensemble([seq2seq(seed=1), seq2seq("coverage", seed=2)])
    received = ks.decode(ensemble, SOURCE, BEAM, LIMIT, shortlist=WHOLE)
    same(received, ks.decode(ensemble, SOURCE, BEAM, LIMIT))
    ids = some().ids(SOURCE).numpy()
    masked = ks.decoding.Ensemble([Masked(model, ids) for model in ensemble.models])
    received = ks.decode(ensemble, SOURCE, BEAM, LIMIT, shortlist=some())
    same(received, ks.decode(masked, SOURCE, BEAM, LIMIT))


# Heads --------------------------------------------------------------------------------

DEPTH = 5


def tied(tie_weights=True):
    return keras.layers.ReversibleEmbedding(
        VOCABULARY, DEPTH, tie_weights=tie_weights, embeddings_initializer=wide()
    )


HEADS = {
    "without_bias": lambda: ks.layers.OutputHead(VOCABULARY, use_bias=False),
    "tied": lambda: ks.layers.OutputHead(VOCABULARY, tied()),
    "two_ways": lambda: ks.layers.OutputHead(VOCABULARY, tied(tie_weights=False)),
    "deep": lambda: ks.layers.DeepOutputHead(VOCABULARY, 4),
    "deep_tied": lambda: ks.layers.DeepOutputHead(VOCABULARY, DEPTH, embedding=tied()),
}


def with_head(head):
    config = {**seq2seq().get_config(), "target_embedding": None, "head": None}
    parts = {
        name: keras.saving.deserialize_keras_object(config[name])
        for name in ("source_embedding", "encoder", "bridge", "decoder")
    }
    embedding = head.embedding or keras.layers.Embedding(
        VOCABULARY, DEPTH, embeddings_initializer=wide()
    )
    model = ks.Seq2Seq(**parts, target_embedding=embedding, head=head)
    random = np.random.default_rng(1)
    for weight in head.weights:
        weight.assign(random.normal(size=weight.shape))
    return model


@pytest.mark.parametrize("head", HEADS)
def test_heads(head):
    check_masked(with_head(HEADS[head]()), ks.Greedy())


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("head", ["without_bias", "tied", "deep"])
def test_columns_are_those_of_the_logits(head, policy):
    keras.config.set_dtype_policy(policy)
    head, random = HEADS[head](), np.random.default_rng(1)
    inputs = [random.normal(size=[2, 3, 6]), random.normal(size=[2, 3, DEPTH])]
    inputs = inputs[: 2 if isinstance(head, ks.layers.DeepOutputHead) else 1]
    logits, ids = head(*inputs), [7, 2, 3]
    product = head.last_product
    among = product.logits(head.hidden(*inputs), product.columns(ids))
    assert among.dtype == logits.dtype
    expected = keras.ops.take(logits, ids, axis=-1)
    np.testing.assert_allclose(
        np.asarray(among, "float32"), np.asarray(expected, "float32"), atol=0.02
    )


def test_no_product_has_the_size_of_the_vocabulary():
    model, shortlist = known("bahdanau"), some()
    function = tf.function(
        lambda source: ks.decode(model, source, BEAM, LIMIT, shortlist=shortlist),
        autograph=False,
    )
    graph = function.get_concrete_function(tf.TensorSpec([4, 5], tf.int32)).graph
    all_products = [
        p for body in loop_bodies(graph) for p in products(operations(body))
    ]
    matrices = {p.right for p in all_products}
    assert (UNITS, SIZE) in matrices and (UNITS, VOCABULARY) not in matrices


# Lists --------------------------------------------------------------------------------


def ids(shortlist, source=((4, 5),), **options):
    return shortlist.ids(np.array(source), **options).numpy().tolist()


def listing(**options):
    table = np.full([7, 3], -1)
    table[4], table[5], table[6] = [9, 8, 7], [7, 6, -1], [5, -1, -1]
    frequent = [0, 1, 2, 3, 11, 10, 9, 8, 7, 6, 5, 4]
    return ks.decoding.Shortlist(table, frequent, **{"common": 5, **options})


@pytest.mark.parametrize(
    ("size", "listed"),
    [
        (5, [11]),  # the common one
        (6, [9, 11]),  # the first of 4, more frequent than that of 5
        (7, [7, 9, 11]),
        (8, [7, 8, 9, 11]),  # then the second ones
        (9, [6, 7, 8, 9, 11]),  # all that these two may become
        (10, [6, 7, 8, 9, 10, 11]),  # filled up with what is frequent
        (50, [4, 5, 6, 7, 8, 9, 10, 11]),
    ],
)
def test_listed_ids(size, listed):
    assert ids(listing(size=size)) == [0, 1, 2, 3, *listed]


def test_padding_lists_no_token():
    shortlist = listing(size=7, common=0)
    assert ids(shortlist, [[6, 4]], tokens=ks.types.SpecialTokens(pad=4)) == [
        0,
        1,
        2,
        3,
    ] + [
        4,  # the ids up to the last special token are all listed
        5,
        11,
    ]


def test_ids_in_every_list():
    shortlist = listing(size=8)
    assert ids(shortlist, first=(2, 10, 4)) == [0, 1, 2, 3, 4, 10, 9, 11]
    assert ids(shortlist, prefix=[[4, 0], [10, 4]]) == [0, 1, 2, 3, 4, 9, 10, 11]


def test_value(tmp_path):
    one, two = some(), some()
    assert one == two and hash(one) == hash(two)
    assert one != some(SIZE + 1) and one != some(seed=2) and one != "some"
    one.save(tmp_path / "list")
    assert ks.decoding.Shortlist.load(tmp_path / "list") == one
    assert repr(one) == (
        "Shortlist(13 source tokens with 2 each, 12 target tokens, common=1, size=8)"
    )
    with pytest.raises(ValueError, match="read-only"):
        one.table[0, 0] = 1


def npy(header, data):
    """Return the bytes of an array with any header."""
    header = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


HEADER = "{{'descr': '{}', 'fortran_order': False, 'shape': {}}}"


@pytest.mark.parametrize(
    "table, reason",
    [
        (npy(HEADER.format("<i4", (10**9, 10**4)), b"\0" * 8), "and has 8 bytes"),
        (npy(HEADER.format("<i4", (-1, -2)), b"\0" * 8), "and has 8 bytes"),
        (npy(HEADER.format("<i4", (2**64, 2**64)), b""), "and has 0 bytes"),
        (npy(HEADER.format("|O", (1, 1)), b"\0" * 8), "table is object"),
        (npy(HEADER.format("<i4", (2,)), b"\0" * 8), "table is int32"),
        (b"\0" * (2**27 + 1), "table has more than 134217728 bytes"),
        (b"", "EOF"),
    ],
)
def test_untrusted_file(tmp_path, table, reason):
    """The file declares more than it has, or is a thousand times larger unpacked."""
    path = tmp_path / "list.npz"
    some().save(path)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {**members, "table.npy": table}.items():
            file.writestr(name, content)
    with pytest.raises(ValueError, match="^Shortlist.load cannot read") as caught:
        ks.decoding.Shortlist.load(path)
    assert reason in str(caught.value)


# Learning -----------------------------------------------------------------------------


class Reader:
    """A model that attends to the source from its end to its start."""

    def __init__(self, heads=None):
        self.heads = heads
        self.source_embedding = self.target_embedding = SimpleNamespace(input_dim=10)

    def __call__(self, inputs, return_attention_scores):
        source, target = inputs["source"], inputs["target"]
        lengths = tf.reduce_sum(tf.cast(source > 2, tf.int32), axis=1)  # words
        place = (lengths[:, None] - 1 - tf.range(tf.shape(target)[1])) % (
            lengths[:, None] + 1
        )
        look = tf.one_hot(place, tf.shape(source)[1])
        if self.heads:
            look = tf.stack([look] + [look * 0.0] * (self.heads - 1), axis=1)
        return tf.zeros([*tf.unstack(tf.shape(target)), 10]), look


@pytest.mark.parametrize("heads", [None, 2])
def test_learn(heads):
    pairs = ks.data.EncodedPairs.of(
        [[4, 5], [4, 5], [5, 4], [4], [6, 4, 5], []],
        [[8, 7], [8, 7], [9, 8], [7], [8, 3, 3], []],
    )
    shortlist = ks.decoding.Shortlist.learn(
        Reader(heads), pairs, per_token=2, common=3, size=7, batch_size=4
    )
    expected = np.full([10, 2], -1)
    expected[4] = [7, 9]  # three times, once; the unknown one is listed anyway
    expected[5] = [8, -1]
    np.testing.assert_array_equal(shortlist.table, expected)
    assert shortlist.frequent.tolist() == [8, 7, 3, 9, 0, 1, 2, 4, 5, 6]
    assert (shortlist.common, shortlist.size) == (3, 7)
    assert ids(shortlist, [[4, 2]]) == [0, 1, 2, 3, 7, 8, 9]


def test_learn_from_a_real_model():
    pairs = ks.data.EncodedPairs.of([[5, 6], [7, 8, 9]], [[4, 5, 6], [7, 8]])
    shortlist = ks.decoding.Shortlist.learn(known("heads"), pairs, per_token=3)
    assert shortlist.table.shape == (SOURCE_VOCABULARY, 3)
    assert sorted(shortlist.table[shortlist.table >= 0]) == [4, 5, 6, 7, 8]
    ks.decode(known("heads"), SOURCE, ks.Greedy(), LIMIT, shortlist=shortlist)
