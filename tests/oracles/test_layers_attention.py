"""Every mechanism of the library against its oracle, at random weights."""

import functools

import keras
import numpy as np
import pytest
from keras import tree

import keras_seqattn as ks
from tests.oracles import alignment as align
from tests.oracles import attention, scores
from tests.oracles.makers import MASK as VALUE_MASK
from tests.oracles.makers import TOLERANCES, around, check_rows, of
from tests.oracles.weights import Mechanism, mechanism, randomize
from tests.public import subclasses

QUERY_DEPTH, MEMORY_DEPTH, SOURCE, UNITS = 4, 6, 5, 8
QUERY_MASK = [[1, 1, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1]]
QUERY_MASK = np.array(QUERY_MASK, dtype=bool)
PRECISIONS = pytest.mark.parametrize("dtype", TOLERANCES)
L = ks.layers
ADDITIVE = of(ks.BahdanauAttention, UNITS)
ADDITIVE_VALUES = of(ks.BahdanauAttention, UNITS, value_units=3)
NORMALIZED = of(ks.BahdanauAttention, UNITS, normalize=True)
DOT, GENERAL = of(ks.LuongAttention, "dot"), of(ks.LuongAttention, "general")
CONCAT_VALUES = of(ks.LuongAttention, "concat", value_units=3)
PREDICTIVE = {"position": "predictive"}
LOCAL = functools.partial(around, L.LocalAttention)
MONOTONIC = functools.partial(around, L.MonotonicAttention)
LOCATION = functools.partial(of, L.LocationSensitiveAttention, UNITS)
HEADS = functools.partial(of, L.MultiHeadAdditiveAttention, UNITS)
PROJECTED = functools.partial(of, L.ProjectedDotAttention, UNITS)


def KERAS(kind, *sizes, **options):
    return around(L.KerasAttention, of(kind, *sizes, **options))


LAYERS = {
    "bahdanau": ADDITIVE,
    "bahdanau_values": ADDITIVE_VALUES,
    "bahdanau_normalized": NORMALIZED,
    "dot": DOT,
    "dot_scale": of(ks.LuongAttention, "dot", scale=True),
    "scaled_dot": of(ks.LuongAttention, "scaled_dot"),
    "general": GENERAL,
    "general_scale_values": of(ks.LuongAttention, "general", scale=True, value_units=3),
    "concat": of(ks.LuongAttention, "concat", units=UNITS),
    "concat_query_units": of(ks.LuongAttention, "concat"),
    "location": of(ks.LuongAttention, "location", maximum_source=9),
    "local_m": LOCAL(GENERAL, window=1),
    "local_m_dot": LOCAL(DOT, window=2),
    "local_m_values": LOCAL(ADDITIVE_VALUES, window=2),
    "local_p": LOCAL(GENERAL, window=2, **PREDICTIVE),
    "local_p_units_values": LOCAL(CONCAT_VALUES, window=1, units=7, **PREDICTIVE),
    "monotonic_soft": MONOTONIC(NORMALIZED, inference="soft"),
    "monotonic_hard": MONOTONIC(ADDITIVE),
    "monotonic_hard_values": MONOTONIC(ADDITIVE_VALUES),
    "monotonic_soft_values": MONOTONIC(ADDITIVE_VALUES, inference="soft"),
    "monotonic_closed": MONOTONIC(ADDITIVE, inference="soft", form="closed"),
    "monotonic_soft_general": MONOTONIC(GENERAL, inference="soft"),
    "monotonic_hard_general": MONOTONIC(GENERAL, inference="hard"),
    "coverage": of(L.CoverageAttention, UNITS),
    "coverage_values": of(L.CoverageAttention, UNITS, value_units=3),
    "location_sensitive": LOCATION(filters=3, kernel_size=3),
    "location_sensitive_wide": LOCATION(filters=2, kernel_size=11, value_units=3),
    "location_sensitive_cumulative": LOCATION(3, 5, use_cumulative=True),
    "multi_head": HEADS(heads=2),
    "multi_head_values": HEADS(heads=4, value_units=3),
    "multi_head_dot": of(L.MultiHeadAttention, UNITS, heads=2),
    "multi_head_dot_values": of(L.MultiHeadAttention, UNITS, heads=4, value_units=3),
    "projected_dot": PROJECTED(),
    "projected_dot_factor_values": PROJECTED(factor=UNITS**-0.5, value_units=3),
    "keras_dot": KERAS(keras.layers.Attention, use_scale=True),
    "keras_additive": KERAS(keras.layers.AdditiveAttention),
    # Keras rounds 1 / sqrt(depth of a head) to float32, which does not matter for 4.
    "keras_multi_head": KERAS(keras.layers.MultiHeadAttention, 2, 4, value_dim=5),
    "keras_grouped": KERAS(keras.layers.GroupQueryAttention, 4, 4, 2),
    "one_layer": of(L.OneLayerAttention),
    "one_layer_values": of(L.OneLayerAttention, value_units=3),
}
AS_DEEP_AS_THE_MEMORY = ("dot", "dot_scale", "scaled_dot", "local_m_dot")  # queries
AS_DEEP_AS_THE_MEMORY += ("keras_dot", "keras_additive")


def arguments(query_depth, masked, dtype):
    random = np.random.default_rng(1)
    query = random.normal(size=[4, 4, query_depth]).astype(dtype)
    value = random.normal(size=[4, SOURCE, MEMORY_DEPTH]).astype(dtype)
    if not masked:
        return query, value, None, None
    query[~QUERY_MASK], value[~VALUE_MASK] = np.nan, np.nan
    return query, value, QUERY_MASK, VALUE_MASK


def built(make, dtype, depth=QUERY_DEPTH):
    layer = make(dtype=dtype)
    layer.build((None, None, depth), (None, None, MEMORY_DEPTH))
    randomize(layer)
    return layer


@functools.cache
def row(name, dtype):
    depth = MEMORY_DEPTH if name in AS_DEEP_AS_THE_MEMORY else QUERY_DEPTH
    return built(LAYERS[name], dtype, depth), depth


def called(layer, query, value, query_mask, value_mask, **options):
    masks = {"query_mask": query_mask, "value_mask": value_mask}
    return layer(query, value, return_attention_scores=True, **masks, **options)


def same(received, expected, dtype):
    """Contexts and alignments; in the layer's alignments heads come before targets."""
    expected = expected[0], np.moveaxis(expected[1], 1, -2)
    for r, e in zip(received, expected, strict=True):
        np.testing.assert_allclose(r, e, rtol=0, atol=TOLERANCES[dtype])


def check(name, dtype, masked):
    layer, depth = row(name, dtype)
    given = arguments(depth, masked, dtype)
    expected = mechanism(layer).over_targets(*given)
    same(called(layer, *given), expected, dtype)
    assert np.ptp(expected[1]) > 0.1  # an even alignment would prove little


@pytest.mark.parametrize("name", LAYERS)
def test_layer_equals_oracle(name):
    check(name, "float64", masked=True)


@pytest.mark.product
@pytest.mark.parametrize(
    ("dtype", "masked"), [("float64", False), ("float32", True), ("float32", False)]
)
@pytest.mark.parametrize("name", LAYERS)
def test_in_float32_and_without_masks(name, dtype, masked):
    check(name, dtype, masked)


def test_monotonic_is_soft_in_training_though_hard_at_inference():
    layer = built(around(L.MonotonicAttention, ADDITIVE, inference="hard"), "float64")
    soft = built(around(L.MonotonicAttention, ADDITIVE, inference="soft"), "float64")
    given = arguments(QUERY_DEPTH, True, "float64")
    expected = mechanism(soft).over_targets(*given)
    same(called(layer, *given, training=True), expected, "float64")


@PRECISIONS
def test_location_beyond_its_longest_source_gets_nothing(dtype):
    # Luong et al. 2015, 3.1: "for long sentences, we ignore words near the end".
    layer = built(of(ks.LuongAttention, "location", maximum_source=3), dtype)
    query, value, *_ = arguments(QUERY_DEPTH, False, dtype)
    context, alignment = called(layer, query, value, None, None)
    near = query, value[:, :3], None, None
    same((context, alignment[..., :3]), mechanism(layer).over_targets(*near), dtype)
    np.testing.assert_array_equal(alignment[..., 3:], 0.0)


@PRECISIONS
def test_local_around_coverage_keeps_both_pasts(dtype):
    inner = of(L.CoverageAttention, UNITS)
    layer = built(around(L.LocalAttention, inner, window=1), dtype)
    # The oracle of the whole, from the parts: (11), then (7) in the window, then (10).
    weights = dict(mechanism(layer.attention).attend.keywords)
    weights.pop("value_kernel")

    def attend(query, value, mask, state):
        steps, covered = state
        e = scores.coverage_additive(query, value, covered, **weights)
        alpha = align.local_m(e, steps + 1, 1, mask)
        past = steps + 1, align.coverage_update(covered, alpha)
        return attention.context_of(alpha, value, mask), alpha, past

    oracle = Mechanism(
        attend, lambda mask: (np.zeros(len(mask), int), np.zeros(mask.shape))
    )
    given = arguments(QUERY_DEPTH, True, dtype)
    same(called(layer, *given), oracle.over_targets(*given), dtype)


@pytest.mark.parametrize("name", LAYERS)
def test_one_query_equals_oracle_alone_and_in_a_beam(name):
    layer, depth = row(name, "float64")
    query, value, _, mask = arguments(depth, True, "float64")
    query, oracle = np.nan_to_num(query), mechanism(layer)
    memory = layer.prepare(value, mask)
    state = tree.map_structure(
        lambda x: np.stack([x] * query.shape[1], axis=1), layer.initial_state(memory)
    )
    together = layer.attend(query, memory, state)
    for k in range(query.shape[1]):
        first = oracle.first(value, mask)
        expected = oracle.attend(query[:, k], value, mask, first)[:2]
        alone = called(layer, query[:, k], value, None, mask)
        for received in (alone, [x[:, k] for x in together[:2]]):
            for r, e in zip(received, expected, strict=True):
                np.testing.assert_allclose(r, e, rtol=0, atol=1e-10)


def test_every_public_attention_has_an_oracle_test():
    public = subclasses(ks.layers.Attention)
    public -= {ks.layers.Attention, ks.layers.ComposedAttention}
    check_rows("LAYERS", __file__, public, {type(make()) for make in LAYERS.values()})
