"""What holds for every mechanism: beams, dropout, precision, training under XLA."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree

import keras_seqattn as ks
from keras_seqattn.testing.compare import flat, same, same_gradients
from tests.contract.rows import is_first
from tests.layers.mechanism_cases import (
    MASK,
    MECHANISMS,
    assert_close,
    attend_all,
    built,
    made,
    of_row,
)

UNITS = 6  # as deep as the values: a score may be a plain product


def decoder_of(name, **options):
    """A decoder with the mechanism of a row; its cell is compiled slowly only once."""
    kind = "gru" if name == "bahdanau" else "simple"
    cell = ks.layers.BahdanauCell(UNITS, made(name, **options), kind)
    return built(ks.AttentionDecoder(cell), *of_row(name))


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_hypothesis_of_a_beam_moves_as_it_would_alone(name, beam=3):
    """Two steps of a decoder, with one memory for all hypotheses of a row."""
    decoder, random = decoder_of(name), np.random.default_rng(5)
    query, value = of_row(name)
    memory = decoder.prepare(value, MASK)
    state = random.normal(size=(beam, 4, UNITS)).astype("float32")
    alone = [decoder.initial_state(memory, one) for one in state]
    together = tree.map_structure(lambda *each: np.stack(each, axis=1), *alone)
    for _ in range(2):
        inputs = random.normal(size=(4, beam, query.shape[-1])).astype("float32")
        step = decoder.step(inputs, together, memory)
        together = step.state
        for k in range(beam):
            expected = decoder.step(inputs[:, k], alone[k], memory)
            alone[k] = expected.state
            tree.assert_same_structure(step, expected)
            pairs = zip(tree.flatten(step), tree.flatten(expected), strict=True)
            for among, one in pairs:
                assert among.dtype == one.dtype
                assert_close(among[:, k], one)


@pytest.mark.parametrize("name", MECHANISMS)
def test_dropout_is_for_the_context_only(name):
    """Neither the alignment nor the past is made of what dropout leaves."""
    query, value = of_row(name)
    (calm, *expected), (wild, *received) = (
        attend_all(built(made(name, dropout=rate), query, value), query, value, MASK, 1)
        for rate in (0.0, 0.5)
    )
    assert not np.allclose(calm, wild)
    for r, e in zip(tree.flatten(received), tree.flatten(expected), strict=True):
        assert_close(r, e)


HIDDEN = (  # scores with a hidden layer
    "bahdanau",
    "luong_concat",
    "multi_head",
    "coverage",
    "location_sensitive",
    "local_predictive",
)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("name", HIDDEN)
def test_scores_with_a_hidden_layer_are_float32(name, policy):
    keras.config.set_dtype_policy(policy)
    attention, (query, value) = MECHANISMS[name].make(), of_row(name)
    assert attention(query, value).dtype == attention.compute_dtype != "float32"
    memory = attention.prepare(value)
    query = query[:, 0].astype(attention.compute_dtype)
    scores = attention.score(query, memory, attention.initial_state(memory))
    assert memory.keys.dtype == scores.dtype == "float32"
    assert memory.values.dtype == attention.compute_dtype


ALIKE = ("projected_dot", "one_layer")  # to some other
SPECIAL = ("luong_location", "local_predictive")  # not like the first of their kind
DEFAULT = {name for name, row in MECHANISMS.items() if is_first(row)}
DEFAULT = DEFAULT.difference(ALIKE).union(SPECIAL)
WITH_FAST = ("bahdanau_normalized", "multi_head")
WITH_ONE_POSITION = ("bahdanau", "bahdanau_normalized", "monotonic_soft")
IN_HALF_PRECISION = ("coverage", "local_predictive", "monotonic_soft", "multi_head")
SLOW = (pytest.mark.slow,)
CASES = [
    *(
        pytest.param(name, "auto", "float32", marks=SLOW * (name not in DEFAULT))
        for name in MECHANISMS
    ),
    *((name, "fast", "float32") for name in WITH_FAST),
    *((name, "auto", "mixed_float16") for name in IN_HALF_PRECISION),
]


@pytest.mark.parametrize(("name", "implementation", "policy"), CASES)
def test_trains_under_xla_with_every_size_unknown(name, implementation, policy):
    """With batch, target and source unknown, some gradients could not be compiled:

    of a product over more than two axes, or of a loop that may have no turn.
    """
    keras.config.set_dtype_policy(policy)
    decoder = decoder_of(name, implementation=implementation)
    names = [weight.path for weight in decoder.trainable_weights]

    def step(query, value, mask):
        with tf.GradientTape() as tape:
            outputs = decoder(query, value, value_mask=mask, training=True)
            loss = tf.reduce_sum(tf.cast(outputs, "float32") ** 2)
        weights = [weight.value for weight in decoder.trainable_weights]
        found = tape.gradient(loss, weights, unconnected_gradients="zero")
        return outputs, [tf.convert_to_tensor(g) for g in found]

    depths = [x.shape[-1] for x in of_row(name)]
    signature = [tf.TensorSpec((None, None, depth)) for depth in depths]
    signature.append(tf.TensorSpec((None, None), tf.bool))
    compiled = tf.function(step, jit_compile=True, input_signature=signature)
    tolerance = 1e-5 if policy == "float32" else 2e-2
    is_short = name in WITH_ONE_POSITION and policy == "float32"
    for batch, target, source in [(3, 2, 7), (1, 1, 1)][: 1 + is_short]:
        random = np.random.default_rng(source)
        query = random.normal(size=(batch, target, depths[0])).astype("float32")
        value = random.normal(size=(batch, source, depths[1])).astype("float32")
        mask = np.arange(source) < np.arange(1, batch + 1)[:, None]
        eager, received = step(query, value, mask), compiled(query, value, mask)
        same(flat(eager[0]), flat(received[0]), tolerance, name)
        expected, found = (
            dict(zip(names, flat(gradients), strict=True))
            for _, gradients in (eager, received)
        )
        same_gradients(expected, found, 5 * tolerance, name)
