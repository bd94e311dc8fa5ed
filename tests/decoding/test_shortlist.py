"""With a shortlist, few tokens have logits; nothing else changes."""

import dataclasses
import io
import zipfile
from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.decoding import Shortlist, loop
from keras_seqattn.decoding.shortlist_places import to_places
from tests.decoding import real_models
from tests.decoding.real_models import SOURCE, UNITS, VOCABULARY, known, seq2seq, wide
from tests.decoding.results import assert_same
from tests.structure.graphs import loop_bodies, operations, products

LIMIT, SOURCE_VOCABULARY = 6, real_models.SOURCE_VOCABULARY
NOTHING = np.full([SOURCE_VOCABULARY, 1], -1)
WHOLE = Shortlist(NOTHING, range(VOCABULARY))
SIZE = 8
BEAM = ks.BeamSearch(3, n_best=2, length_penalty=0.6, coverage_penalty=0.2)


def some(size=SIZE, seed=1):
    random = np.random.default_rng(seed)
    table = random.integers(4, VOCABULARY, [SOURCE_VOCABULARY, 2])
    return Shortlist(table, random.permutation(VOCABULARY), common=1, size=size)


class Masked:
    def __init__(self, model, ids):
        self.model, self.pad, self.start = model, model.pad, model.start
        bars = np.full(VOCABULARY, -np.inf, "float32")
        bars[ids] = 0.0
        self.bars = bars

    def step(self, tokens, state, memory):
        step = self.model.step(tokens, state, memory)
        return step._replace(output=step.output + self.bars)


def decode(model, search=BEAM, source=SOURCE, **options):
    return ks.decode(model, source, search, LIMIT, **options)


def masked(model, ids):
    if isinstance(model, ks.decoding.Ensemble):
        return ks.decoding.Ensemble([Masked(member, ids) for member in model.models])
    return Masked(model, ids)


MISSING = np.setdiff1d(range(VOCABULARY), some().ids(SOURCE))[:2]
PREFIX = np.array([MISSING, [MISSING[1], 0], [0, 0], [4, MISSING[0]]])


@pytest.mark.parametrize(
    "search, prefix",
    [
        (ks.Greedy(forbidden_tokens=(9, 5), min_length=3), None),
        (dataclasses.replace(BEAM, no_repeat_ngram=2), PREFIX),
    ],
    ids=["greedy", "beam with a prefix"],
)
def test_other_tokens_are_impossible(search, prefix):
    """Tokens of the prefix are listed."""
    model, shortlist = known("coverage"), some()
    ids = shortlist.ids(SOURCE, first=search.forbidden_tokens, prefix=prefix).numpy()
    assert len(set(ids)) == SIZE
    received = decode(model, search, shortlist=shortlist, prefix=prefix)
    assert_same(received, decode(masked(model, ids), search, prefix=prefix))
    assert set(np.unique(received.tokens)) <= set(ids)


def test_samples_of_the_whole_vocabulary_and_of_the_list():
    search = ks.decoding.Sample(n_best=2, top_k=5, seed=1)
    received = decode(known("bahdanau"), search, shortlist=WHOLE)
    assert_same(received, decode(known("bahdanau"), search))
    search, ids = ks.decoding.Sample(n_best=50, seed=2), some().ids(SOURCE).numpy()
    decoded = decode(known("bahdanau"), search, shortlist=some())
    assert set(np.unique(decoded.tokens)) == set(ids) - {1}  # without the start token


def test_finished_sentences_leave():
    """The nine sentences have very different limits."""
    model, source = known("bahdanau"), np.repeat(SOURCE, [1, 2, 5, 1], axis=0)
    limit = ks.decoding.RelativeLength(1.0)
    task = model, source, BEAM, limit
    expected = ks.decode(*task, leaving=False, shortlist=some())
    assert_same(ks.decode(*task, leaving=True, shortlist=some()), expected)


def test_inside_a_function():
    """No product has the size of the vocabulary."""
    model, shortlist = known("bahdanau"), some()
    signature = [tf.TensorSpec([None, None], tf.int32)]

    @tf.function(input_signature=signature, autograph=False)
    def decoded(source):
        return decode(model, source=source, leaving=True, shortlist=shortlist)

    for count in (4, 2):
        expected = decode(model, source=SOURCE[:count], shortlist=shortlist)
        assert_same(decoded(SOURCE[:count]), expected)
    bodies = map(operations, loop_bodies(decoded.get_concrete_function().graph))
    matrices = {product.right for body in bodies for product in products(body)}
    assert (UNITS, SIZE) in matrices and (UNITS, VOCABULARY) not in matrices


@pytest.mark.slow
@pytest.mark.parametrize("shortlist", [None, some()], ids=["all tokens", "shortlist"])
def test_under_xla(shortlist):
    def decoded(source):
        return decode(known("coverage"), source=source, shortlist=shortlist)

    function = tf.function(decoded, jit_compile=True, autograph=False)
    assert_same(function(SOURCE), decoded(SOURCE), atol=1e-4)


def test_one_graph_for_equal_lists(monkeypatch):
    traces = []

    def counted(*arguments):
        traces.append(1)
        return to_places(*arguments)

    monkeypatch.setattr(loop, "to_places", counted)
    for shortlist in (some(seed=3), some(seed=3), some(SIZE + 1, seed=3)):
        decode(known("bahdanau"), ks.Greedy(), shortlist=shortlist)
    assert len(traces) == 2


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
    embedding = head.embedding or keras.layers.Embedding(
        VOCABULARY, DEPTH, embeddings_initializer=wide()
    )
    model = seq2seq(target_embedding=embedding, head=head)
    random = np.random.default_rng(1)
    for weight in head.weights:
        weight.assign(random.normal(size=weight.shape))
    return model


def check_step(model, ids, memory, state):
    places = np.array([1, 3, 5, 2])
    one = model.step(places, state, model.shorten(memory, ids))
    all_tokens = masked(model, ids)
    other = all_tokens.step(ids[places], state, all_tokens.start(SOURCE).memory)
    among = np.take(other.output, ids, axis=-1)
    np.testing.assert_allclose(one.output, among, atol=1e-5)
    np.testing.assert_allclose(one.alignment, other.alignment, atol=1e-6)
    flat = zip(*map(keras.tree.flatten, (one.state, other.state)), strict=True)
    for own, expected in flat:
        np.testing.assert_allclose(own, expected, atol=1e-6)


@pytest.mark.parametrize("head", HEADS)
def test_step_with_every_head(head):
    model = with_head(HEADS[head]())
    state, memory = model.start(SOURCE)
    for prepared in (memory, model.precompute(memory)):
        check_step(model, some().ids(SOURCE).numpy(), prepared, state)


def test_step_of_an_ensemble():
    model = ks.decoding.Ensemble([known("bahdanau"), known("coverage")])
    state, memory = model.start(SOURCE)
    check_step(model, some().ids(SOURCE).numpy(), memory, state)


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
    received, expected = (np.asarray(x, "float32") for x in (among, expected))
    np.testing.assert_allclose(received, expected, atol=0.02)


def ids(shortlist, source=((4, 5),), **options):
    return shortlist.ids(np.array(source), **options).numpy().tolist()


def listing(**options):
    table = np.full([7, 3], -1)
    table[4], table[5], table[6] = [9, 8, 7], [7, 6, -1], [5, -1, -1]
    frequent = [0, 1, 2, 3, 11, 10, 9, 8, 7, 6, 5, 4]
    return Shortlist(table, frequent, **{"common": 5, **options})


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


def test_padding_lists_no_token_and_some_are_in_every_list():
    shortlist = listing(size=7, common=0)
    listed = ids(shortlist, [[6, 4]], tokens=ks.types.SpecialTokens(pad=4))
    assert listed == [1, 2, 3, 4, 0, 5, 11]  # special tokens first
    shortlist = listing(size=8)
    assert ids(shortlist, first=(2, 10, 4)) == [0, 1, 2, 3, 4, 10, 9, 11]
    assert ids(shortlist, prefix=[[4, 0], [10, 4]]) == [0, 1, 2, 3, 4, 9, 10, 11]


def test_value(tmp_path):
    one, two = some(), some()
    assert one == two and hash(one) == hash(two)
    assert one != some(SIZE + 1) and one != some(seed=2) and one != "some"
    one.save(tmp_path / "list")
    assert Shortlist.load(tmp_path / "list") == one
    numbers = "13 source tokens with 2 each, 12 target tokens, common=1, size=8"
    assert repr(one) == f"Shortlist({numbers})"
    with pytest.raises(ValueError, match="read-only"):
        one.table[0, 0] = 1


def npy(dtype, shape, data):
    file, header = io.BytesIO(), {"descr": dtype, "fortran_order": False}
    np.lib.format.write_array_header_1_0(file, {**header, "shape": shape})
    return file.getvalue() + data


@pytest.mark.parametrize(
    "table, reason",
    [
        (npy("<i4", (10**9, 10**4), b"\0" * 8), "and has 8 bytes"),
        (npy("<i4", (-1, -2), b"\0" * 8), "and has 8 bytes"),
        (npy("<i4", (2**64, 2**64), b""), "and has 0 bytes"),
        (npy("|O", (1, 1), b"\0" * 8), "table is object"),
        (npy("<i4", (2,), b"\0" * 8), "table is int32"),
        (b"\0" * (2**27 + 1), "table has more than 134217728 bytes"),
        (b"", "EOF"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_untrusted_file(tmp_path, table, reason):
    """The file declares more than it has, or is a thousand times larger unpacked."""
    path = tmp_path / "list.npz"
    some().save(path)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, content in {**members, "table.npy": table}.items():
            file.writestr(name, content)
    with pytest.raises(ValueError, match="^Shortlist.load cannot read") as caught:
        Shortlist.load(path)
    assert reason in str(caught.value)


class Reader:
    """A model that attends to the source from its end to its start."""

    def __init__(self, heads=None):
        self.heads = heads
        self.source_embedding = self.target_embedding = SimpleNamespace(input_dim=10)

    def __call__(self, inputs, return_attention_scores):
        source, target = inputs["source"], inputs["target"]
        lengths = tf.reduce_sum(tf.cast(source > 2, tf.int32), axis=1)[:, None]  # words
        place = (lengths - 1 - tf.range(tf.shape(target)[1])) % (lengths + 1)
        look = tf.one_hot(place, tf.shape(source)[1])
        if self.heads:
            look = tf.stack([look] + [look * 0.0] * (self.heads - 1), axis=1)
        return tf.zeros([*tf.unstack(tf.shape(target)), 10]), look


@pytest.mark.parametrize("heads", [None, 2])
def test_learn(heads):
    source = [[4, 5], [4, 5], [5, 4], [4], [6, 4, 5], []]
    target = [[8, 7], [8, 7], [9, 8], [7], [8, 3, 3], []]
    pairs = ks.data.EncodedPairs.of(source, target)
    options = {"per_token": 2, "common": 3, "size": 7, "batch_size": 4}
    shortlist = Shortlist.learn(Reader(heads), pairs, **options)
    expected = np.full([10, 2], -1)
    expected[4] = [7, 9]  # three times, once; the unknown one is listed anyway
    expected[5] = [8, -1]
    np.testing.assert_array_equal(shortlist.table, expected)
    assert shortlist.frequent.tolist() == [8, 7, 3, 9, 0, 1, 2, 4, 5, 6]
    assert (shortlist.common, shortlist.size) == (3, 7)
    assert ids(shortlist, [[4, 2]]) == [0, 1, 2, 3, 7, 8, 9]


def test_learn_from_a_real_model():
    pairs = ks.data.EncodedPairs.of([[5, 6], [7, 8, 9]], [[4, 5, 6], [7, 8]])
    shortlist = Shortlist.learn(known("heads"), pairs, per_token=3)
    assert shortlist.table.shape == (SOURCE_VOCABULARY, 3)
    assert sorted(shortlist.table[shortlist.table >= 0]) == [4, 5, 6, 7, 8]
