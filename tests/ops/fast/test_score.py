"""Fast scores are the readable ones, outputs and gradients, in chunks of any size."""

from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from keras_seqattn.ops import score as reference
from keras_seqattn.ops.fast import chunks
from keras_seqattn.ops.fast import score as fast
from tests.structure.graphs import operations

SIZES = st.integers(1, 6)
FORMS = {  # name of the score, axes of depth, whether there is a bias
    "additive": ("additive_score", (3,), False),
    "with_bias": ("additive_score", (3,), True),
    "multi_head": ("multi_head_additive_score", (2, 3), False),
}


def tensors(form, queries, source, dtype="float32", seed=0):
    """Query of `[*queries, *depths]`, keys, v and perhaps a bias."""
    _, depths, biased = FORMS[form]
    random = np.random.default_rng(seed)
    shapes = (*queries, *depths), (queries[0], source, *depths), depths
    shapes += (depths,) * biased
    return [tf.cast(random.normal(size=shape), dtype) for shape in shapes]


def with_gradients(module, form, *given):
    """Scores, then the gradients of something that depends on all of them."""
    with tf.GradientTape() as tape:
        tape.watch(given)
        scores = getattr(module, FORMS[form][0])(*given)
        loss = tf.reduce_sum(tf.sin(tf.cast(scores, "float32")))
    return scores, *tape.gradient(loss, given)


def assert_same(received, expected, tolerance=1e-5):
    for r, e in zip(received, expected, strict=True):
        assert (r.shape, r.dtype) == (e.shape, e.dtype)
        r, e = (np.asarray(x, "float64") for x in (r, e))
        worst = np.max(np.abs(r - e), initial=0)
        assert worst <= tolerance * np.max(np.abs(e), initial=1e-3)


def in_parts(entries):
    """Chunks of this many entries: of many of them in a small test."""
    return mock.patch.object(chunks, "ENTRIES", entries)


@pytest.fixture(scope="module", params=FORMS)
def one_trace(request):
    """A function of any sizes, traced once for all examples."""
    form, traces = request.param, []
    _, depths, biased = FORMS[form]
    times = [tf.TensorSpec((None, None, *depths))] * 2
    depth = [tf.TensorSpec(depths)] * (1 + biased)

    @tf.function(input_signature=[*times, *depth])
    def function(*arguments):
        traces.append(form)
        return with_gradients(fast, form, *arguments)

    with in_parts(60):
        function.get_concrete_function()
    return form, function, traces


@given(batch=SIZES, target=st.integers(0, 30), source=SIZES, seed=st.integers(0, 99))
def test_one_trace_for_any_sizes(one_trace, batch, target, source, seed):
    form, function, traces = one_trace
    arguments = tensors(form, (batch, target), source, seed=seed)
    assert_same(function(*arguments), with_gradients(reference, form, *arguments))
    assert traces == [form]


@given(
    form=st.sampled_from(list(FORMS)),
    queries=st.lists(st.integers(0, 5), min_size=1, max_size=3).map(tuple),
    source=st.integers(0, 5),
    entries=st.integers(1, 300),
)
def test_chunks_of_any_size(form, queries, source, entries):
    arguments = tensors(form, queries, source)
    with in_parts(entries):
        received = with_gradients(fast, form, *arguments)
    assert_same(received, with_gradients(reference, form, *arguments))


@pytest.mark.parametrize("module", [reference, fast], ids=["readable", "fast"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float16", 1e-3), ("bfloat16", 8e-3), ("float64", 1e-12)]
)
def test_half_precision_is_float32_inside(module, form, dtype, tolerance):
    """Scores are float32; gradients lose half a unit in the last place."""
    arguments = tensors(form, (2, 7), 5, dtype)
    wide = [tf.cast(x, tf.float64) for x in arguments]
    with in_parts(100):
        scores, *gradients = with_gradients(module, form, *arguments)
    assert scores.dtype == ("float64" if dtype == "float64" else "float32")
    assert all(gradient.dtype == dtype for gradient in gradients)
    expected, *slopes = with_gradients(reference, form, *wide)
    assert_same([tf.cast(scores, tf.float64)], [expected], min(tolerance, 1e-6))
    assert_same([tf.cast(x, tf.float64) for x in gradients], slopes, tolerance)


@pytest.mark.parametrize("form", FORMS)
def test_no_hidden_layer_of_all_queries(form):
    """No tensor of the forward or backward pass is much larger than the scores."""
    arguments = tensors(form, (2, 50), source=40)
    scores = 2 * 50 * 40 * (2 if form == "multi_head" else 1)
    assert largest(reference, form, arguments) == 3 * scores
    with in_parts(1000):
        assert scores <= largest(fast, form, arguments) < 1.1 * scores


def largest(module, form, arguments):
    """Entries of the largest tensor of a graph."""
    function = tf.function(lambda *given: with_gradients(module, form, *given))
    graph = function.get_concrete_function(*arguments).graph
    shapes = [x.shape for operation in operations(graph) for x in operation.outputs]
    return max(s.num_elements() for s in shapes if s.is_fully_defined())


@pytest.mark.parametrize("queries", [(2,), (2, 7)], ids=str)
@pytest.mark.parametrize("eager", [True, False])
def test_no_second_derivative_is_wrong(queries, eager):
    arguments = tensors("additive", queries, source=5)

    def second():
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            _, of_query, *_ = with_gradients(fast, "additive", *arguments)
        return tape.gradient(of_query, arguments[0])

    with pytest.raises(LookupError, match="The fast score has first derivatives only"):
        second() if eager else tf.function(second, autograph=False)()


def test_supports():
    query, keys, v = tensors("additive", (2, 7), source=5)
    assert fast.supports(query, keys, v) is None
    assert fast.supports(query[:, 0], keys, v) is None
    reason = fast.supports(query, tf.stack([keys] * 7, axis=1), v)
    assert reason == "the keys differ from query to query"


UNITS = 256


@pytest.mark.parametrize(
    ("batch", "queries", "source", "expected"),
    [
        (64, (), 16, False),  # a step of a short sentence
        (64, (), 1000, True),  # a step that keeps 64 MB
        (2, (10,), 20, False),  # all of it is less than a chunk
        (64, (16,), 16, False),
        (64, (63,), 64, False),
        (64, (64,), 64, True),
        (8, (1000,), 1000, True),
        (None, (), None, False),  # a step of whatever
        (None, (5,), None, False),  # a beam
    ],
)
def test_pays(batch, queries, source, expected):
    query = tf.TensorSpec((batch, *queries, UNITS))
    keys, v = tf.TensorSpec((batch, source, UNITS)), tf.TensorSpec((UNITS,))
    assert fast.pays(query, keys, v) == expected
    heads = [tf.TensorSpec((*x.shape[:-1], 4, UNITS // 4)) for x in (query, keys, v)]
    assert fast.pays(*heads) == expected


@pytest.mark.parametrize("form", ["with_bias", "multi_head"])
@pytest.mark.parametrize("jit_compile", [False, True], ids=["graph", "xla"])
@pytest.mark.parametrize("large", [2, 10**9], ids=["fast", "readable"])
def test_a_choice_at_run_time(form, jit_compile, large):
    """Of unknown sizes: the better one, with its gradient, in either case."""
    arguments, name, seen = tensors(form, (2, 7), 5), FORMS[form][0], []
    specs = [tf.TensorSpec((None, None, *x.shape[2:])) for x in arguments[:2]]
    specs += [tf.TensorSpec(x.shape) for x in arguments[2:]]

    def noted(module):
        def function(*given):
            seen.append(module)
            return getattr(module, name)(*given)

        return function

    def score(query, keys, *weights):
        pays = fast.pays(query, keys, weights[0])
        return fast.where(pays, noted(fast), noted(reference))(query, keys, *weights)

    both = SimpleNamespace(**{name: score})
    with mock.patch.object(fast, "LARGE", large), in_parts(100):
        call = tf.function(
            lambda *given: with_gradients(both, form, *given),
            input_signature=specs,
            jit_compile=jit_compile,
        )
        received = call(*arguments)
    assert fast in seen and (reference in seen) != jit_compile
    assert_same(received, with_gradients(reference, form, *arguments))
