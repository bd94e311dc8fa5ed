"""What is computed ahead of a search changes nothing but the time it takes."""

import keras
import numpy as np
import pytest

import keras_seqattn as ks
from tests.layers.mechanism_cases import MECHANISMS

UNITS = 6
MASK = np.arange(5) < np.array([[5], [3], [0]])


def decoder_of(cell="gru", attention=None, **options):
    attention = attention or ks.BahdanauAttention(UNITS)
    decoder = ks.AttentionDecoder(
        ks.layers.BahdanauCell(UNITS, attention, cell, **options)
    )
    decoder.build((None, None, 4), (None, None, UNITS))
    return decoder


def steps(decoder, ahead, beam=None):
    """Outputs and alignments of three steps."""
    random = np.random.default_rng(5)
    memory = decoder.prepare(random.normal(size=(3, 5, UNITS)).astype("float32"), MASK)
    if ahead:
        memory = decoder.precompute(memory)
    state = decoder.initial_state(memory)
    axes = (3,) if beam is None else (3, beam)
    if beam:
        state = keras.tree.map_structure(
            lambda x: keras.ops.repeat(x[:, None], beam, axis=1), state
        )
    results = []
    for _ in range(3):
        inputs = random.normal(size=(*axes, 4)).astype("float32")
        step = decoder.step(inputs, state, memory)
        state = step.state
        results += [step.output, step.alignment]
    return memory, results


def assert_same(decoder, beam=None):
    _, plain = steps(decoder, ahead=False, beam=beam)
    memory, ahead = steps(decoder, ahead=True, beam=beam)
    for a, b in zip(plain, ahead, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-6)
    return memory


@pytest.mark.parametrize("beam", [None, 2])
@pytest.mark.parametrize(
    "cell", ["simple", "gru", "gru_paper", "lstm", "layer_norm_gru", "layer_norm_lstm"]
)
def test_feed_of_product_is_the_same(cell, beam):
    memory = assert_same(decoder_of(cell), beam)
    assert memory.values_and_feed.shape[:2] == (3, 5)


def test_a_stack_is_fed_at_the_bottom():
    assert_same(decoder_of(layers=2))


@pytest.mark.parametrize(
    "name", [n for n in sorted(MECHANISMS) if not {"multi", "keras"} & {*n.split("_")}]
)
def test_whatever_aligns(name):
    memory = assert_same(decoder_of(attention=MECHANISMS[name].make()))
    assert memory.values_and_feed.shape[-1] == memory.values.shape[-1] + 3 * UNITS


def test_where_it_cannot_be_nothing_is_computed_as_for_mechanisms_of_users():
    class Doubled(ks.BahdanauAttention):
        def read(self, *args):
            attended = super().read(*args)
            return attended._replace(context=2 * attended.context)

    assert assert_same(decoder_of(attention=Doubled(UNITS))).values_and_feed == ()
    # Heads have contexts of their own; the kernel of a Keras cell is its affair.
    for kind in (ks.layers.MultiHeadAdditiveAttention, ks.layers.MultiHeadAttention):
        heads = decoder_of(attention=kind(UNITS, heads=2))
        assert assert_same(heads).values_and_feed == ()
    of_keras = decoder_of(attention=MECHANISMS["keras_additive"].make())
    assert assert_same(of_keras).values_and_feed == ()
    foreign = decoder_of(keras.layers.GRUCell(UNITS))
    assert assert_same(foreign).values_and_feed == ()
