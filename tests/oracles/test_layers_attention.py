"""Every mechanism of the library against its oracle, at random weights."""

import numpy as np
import pytest

import keras_seqattn as ks
from tests.oracles import alignment as align
from tests.oracles import attention, scores
from tests.oracles.weights import Mechanism, mechanism, randomize
from tests.public import subclasses

QUERY_DEPTH, MEMORY_DEPTH, SOURCE, UNITS = 4, 6, 5, 8
VALUE_MASK = np.array(
    [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 0, 1, 1], [0, 0, 0, 0, 0]], dtype=bool
)
QUERY_MASK = np.array(
    [[1, 1, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1]], dtype=bool
)
TOLERANCES = {"float32": 1e-5, "float64": 1e-10}
PRECISIONS = pytest.mark.parametrize("dtype", TOLERANCES)


def bahdanau(**kwargs):
    return ks.BahdanauAttention(UNITS, **kwargs)


def general(**kwargs):
    return ks.LuongAttention("general", **kwargs)


LAYERS = {
    "bahdanau": bahdanau,
    "bahdanau_values": lambda **k: bahdanau(value_units=3, **k),
    "bahdanau_normalized": lambda **k: bahdanau(normalize=True, **k),
    "dot": lambda **k: ks.LuongAttention("dot", **k),
    "dot_scale": lambda **k: ks.LuongAttention("dot", scale=True, **k),
    "scaled_dot": lambda **k: ks.LuongAttention("scaled_dot", **k),
    "general": general,
    "general_scale_values": lambda **k: general(scale=True, value_units=3, **k),
    "concat": lambda **k: ks.LuongAttention("concat", units=UNITS, **k),
    "concat_query_units": lambda **k: ks.LuongAttention("concat", **k),
    "location": lambda **k: ks.LuongAttention("location", maximum_source=9, **k),
    "local_m": lambda **k: ks.layers.LocalAttention(general(**k), window=1, **k),
    "local_m_dot": lambda **k: ks.layers.LocalAttention(
        ks.LuongAttention("dot", **k), window=2, **k
    ),
    "local_m_values": lambda **k: ks.layers.LocalAttention(
        bahdanau(value_units=3, **k), window=2, **k
    ),
    "local_p": lambda **k: ks.layers.LocalAttention(
        general(**k), window=2, position="predictive", **k
    ),
    "local_p_units_values": lambda **k: ks.layers.LocalAttention(
        ks.LuongAttention("concat", value_units=3, **k),
        window=1,
        position="predictive",
        units=7,
        **k,
    ),
    "monotonic_soft": lambda **k: ks.layers.MonotonicAttention(
        bahdanau(normalize=True, **k), inference="soft", **k
    ),
    "monotonic_hard": lambda **k: ks.layers.MonotonicAttention(bahdanau(**k), **k),
    "monotonic_hard_values": lambda **k: ks.layers.MonotonicAttention(
        bahdanau(value_units=3, **k), inference="hard", **k
    ),
    "monotonic_soft_values": lambda **k: ks.layers.MonotonicAttention(
        bahdanau(value_units=3, **k), inference="soft", **k
    ),
    "monotonic_closed": lambda **k: ks.layers.MonotonicAttention(
        bahdanau(**k), inference="soft", form="closed", **k
    ),
    "coverage": lambda **k: ks.layers.CoverageAttention(UNITS, **k),
    "coverage_values": lambda **k: ks.layers.CoverageAttention(
        UNITS, value_units=3, **k
    ),
    "location_sensitive": lambda **k: ks.layers.LocationSensitiveAttention(
        UNITS, filters=3, kernel_size=3, **k
    ),
    "location_sensitive_wide": lambda **k: ks.layers.LocationSensitiveAttention(
        UNITS, filters=2, kernel_size=11, value_units=3, **k
    ),
    "location_sensitive_cumulative": lambda **k: ks.layers.LocationSensitiveAttention(
        UNITS, filters=3, kernel_size=5, use_cumulative=True, **k
    ),
    "multi_head": lambda **k: ks.layers.MultiHeadAdditiveAttention(UNITS, heads=2, **k),
    "multi_head_values": lambda **k: ks.layers.MultiHeadAdditiveAttention(
        UNITS, heads=4, value_units=3, **k
    ),
    "projected_dot": lambda **k: ks.layers.ProjectedDotAttention(UNITS, **k),
    "projected_dot_factor_values": lambda **k: ks.layers.ProjectedDotAttention(
        UNITS, factor=UNITS**-0.5, value_units=3, **k
    ),
    "one_layer": lambda **k: ks.layers.OneLayerAttention(**k),
    "one_layer_values": lambda **k: ks.layers.OneLayerAttention(value_units=3, **k),
}


def arguments(query_depth, masked, dtype, source=SOURCE):
    random = np.random.default_rng(1)
    query = random.normal(size=[4, 4, query_depth]).astype(dtype)
    value = random.normal(size=[4, source, MEMORY_DEPTH]).astype(dtype)
    if not masked:
        return query, value, None, None
    query[~QUERY_MASK], value[~VALUE_MASK] = np.nan, np.nan
    return query, value, QUERY_MASK, VALUE_MASK


def built(name, dtype):
    depth = MEMORY_DEPTH if "dot" in name and "projected" not in name else QUERY_DEPTH
    layer = LAYERS[name](dtype=dtype)
    layer.build((None, None, depth), (None, None, MEMORY_DEPTH))
    randomize(layer)
    return layer, depth


def agree(layer, oracle, query, value, query_mask, value_mask, tolerance):
    context, alignment = layer(
        query,
        value,
        query_mask=query_mask,
        value_mask=value_mask,
        return_attention_scores=True,
    )
    contexts, alignments = oracle.over_targets(query, value, query_mask, value_mask)
    alignments = np.moveaxis(alignments, 1, -2)  # heads come before the target
    np.testing.assert_allclose(context, contexts, rtol=0, atol=tolerance)
    np.testing.assert_allclose(alignment, alignments, rtol=0, atol=tolerance)
    return alignments


@pytest.mark.parametrize("masked", [False, True], ids=["real", "padded"])
@PRECISIONS
@pytest.mark.parametrize("name", LAYERS)
def test_layer_equals_oracle(name, dtype, masked):
    layer, depth = built(name, dtype)
    given = arguments(depth, masked, dtype)
    alignments = agree(layer, mechanism(layer), *given, TOLERANCES[dtype])
    assert np.ptp(alignments) > 0.1  # an even alignment would prove little


@PRECISIONS
@pytest.mark.parametrize("mode", ["soft", "hard"])
def test_monotonic_luong_without_bias_equals_oracle(mode, dtype):
    layer = ks.layers.MonotonicAttention(
        general(dtype=dtype), inference=mode, dtype=dtype
    )
    layer.build((None, None, QUERY_DEPTH), (None, None, MEMORY_DEPTH))
    randomize(layer)
    layer.r.assign(0.0)
    given = arguments(QUERY_DEPTH, True, dtype)
    agree(layer, mechanism(layer), *given, TOLERANCES[dtype])


def test_training_monotonic_is_soft_when_inference_is_hard():
    layer, depth = built("monotonic_hard", "float64")
    soft = type(layer).from_config({**layer.get_config(), "inference": "soft"})
    soft.build((None, None, depth), (None, None, MEMORY_DEPTH))
    soft.set_weights(layer.get_weights())
    query, value, query_mask, value_mask = arguments(depth, True, "float64")
    masks = {"query_mask": query_mask, "value_mask": value_mask}
    expected, _ = mechanism(soft).over_targets(query, value, query_mask, value_mask)
    trained = layer(query, value, **masks, training=True)
    np.testing.assert_allclose(trained, expected, rtol=0, atol=1e-10)


@PRECISIONS
def test_location_beyond_its_longest_source_gets_nothing(dtype):
    # Luong et al. 2015, 3.1: "for long sentences, we ignore words near the end".
    layer = ks.LuongAttention("location", maximum_source=3, dtype=dtype)
    layer.build((None, None, QUERY_DEPTH), (None, None, MEMORY_DEPTH))
    randomize(layer)
    query, value, query_mask, value_mask = arguments(QUERY_DEPTH, True, dtype)
    context, alignment = layer(
        query,
        value,
        query_mask=query_mask,
        value_mask=value_mask,
        return_attention_scores=True,
    )
    contexts, alignments = mechanism(layer).over_targets(
        query, value[:, :3], query_mask, value_mask[:, :3]
    )
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(context, contexts, rtol=0, atol=tolerance)
    np.testing.assert_allclose(alignment[..., :3], alignments, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(alignment[..., 3:], 0.0)


@PRECISIONS
def test_local_around_coverage_keeps_both_pasts(dtype):
    inner = ks.layers.CoverageAttention(UNITS, dtype=dtype)
    layer = ks.layers.LocalAttention(inner, window=1, dtype=dtype)
    layer.build((None, None, QUERY_DEPTH), (None, None, MEMORY_DEPTH))
    randomize(layer)
    # The oracle of the whole, from the parts: (11), then (7) in the window, then (10).
    weights = dict(mechanism(inner).attend.keywords)
    weights.pop("value_kernel")

    def attend(query, value, mask, state):
        steps, covered = state
        e = scores.coverage_additive(query, value, covered, **weights)
        alpha = align.local_m(e, steps + 1, 1, mask)
        past = steps + 1, align.coverage_update(covered, alpha)
        return attention.context_of(alpha, value, mask), alpha, past

    oracle = Mechanism(attend, lambda b, s: (np.zeros(b, dtype=int), np.zeros([b, s])))
    given = arguments(QUERY_DEPTH, True, dtype)
    agree(layer, oracle, *given, TOLERANCES[dtype])


@pytest.mark.parametrize("name", LAYERS)
def test_single_query_equals_oracle(name):
    layer, depth = built(name, "float64")
    query, value, _, mask = arguments(depth, True, "float64")
    query = np.nan_to_num(query[:, 1])
    context, alignment = layer(
        query, value, value_mask=mask, return_attention_scores=True
    )
    oracle = mechanism(layer)
    expected = oracle.attend(query, value, mask, oracle.start(*value.shape[:2]))
    np.testing.assert_allclose(context, expected[0], rtol=0, atol=1e-10)
    np.testing.assert_allclose(alignment, expected[1], rtol=0, atol=1e-10)


def test_every_public_attention_has_an_oracle_test():
    public = subclasses(ks.layers.Attention)
    tested = {type(make()) for make in LAYERS.values()}
    bases = {ks.layers.Attention, ks.layers.ComposedAttention}
    assert public - bases == tested, "a mechanism without a row in LAYERS"
