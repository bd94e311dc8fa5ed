"""Edge cases of ids, sources, seeds and limits."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.decoding import loop
from keras_seqattn.decoding.decoded import build_decoded
from tests.decoding.fakes import END, Speller, TableModel, tables
from tests.decoding.real_models import SOURCE, VOCABULARY, known, seq2seq


class Counting(TableModel):
    def __init__(self):
        self.traces = 0

    def start(self, source):
        self.traces += 1
        return super().start(source)


def agree(model, tokens):
    """Check that the scores of a search equal those of teacher forcing."""
    decoded = ks.decode(model, SOURCE, ks.BeamSearch(3), max_length=6, tokens=tokens)
    scored = ks.decoding.score(model, SOURCE, decoded.tokens[:, 0], tokens=tokens)
    np.testing.assert_allclose(decoded.scores[:, 0], scored.scores, atol=1e-4)


def test_one_id_may_start_and_end():
    agree(known("bahdanau"), ks.types.SpecialTokens(start=2, end=2))


def test_another_padding():
    model = seq2seq()
    config = {**model.get_config(), "pad": 5}
    agree(ks.Seq2Seq.from_config(config), ks.types.SpecialTokens(pad=5))


def test_a_part_without_weights_is_seen():
    """A bridge that was None at the first call is used at the second."""
    model = seq2seq()
    model.bridge = None
    before = ks.decode(model, SOURCE, ks.Greedy(), max_length=4)
    units = model.decoder.cell.units

    class Ones(ks.layers.Bridge):
        def call(self, encoded):
            ones = keras.ops.ones((keras.ops.shape(encoded.values)[0], units))
            return [ones, ones]

    model.bridge = Ones()
    after = ks.decode(model, SOURCE, ks.Greedy(), max_length=4)
    assert not np.allclose(before.scores, after.scores)


def test_an_ensemble_handles_nan_like_its_member():
    class OneNaN(TableModel):
        def step(self, tokens, state, memory):
            step = super().step(tokens, state, memory)
            size = step.output.shape[-1]
            hole = tf.where(tf.range(size) == 4, float("nan"), 0.0)
            return step._replace(output=step.output + hole)

    member = OneNaN()
    for combine in ("linear", "log_linear"):
        both = ks.decoding.Ensemble([member, member], combine)
        alone = ks.decode(member, tables(3), ks.BeamSearch(3), max_length=6)
        together = ks.decode(both, tables(3), ks.BeamSearch(3), max_length=6)
        np.testing.assert_array_equal(alone.tokens, together.tokens)
        np.testing.assert_allclose(alone.scores, together.scores, atol=1e-5)
        assert np.all(together.lengths > 0)


@pytest.mark.parametrize("times", [0.1, 0.3, 0.7, 1.1, 1.5, 2.0, 3.3])
def test_relative_lengths_round_up_exactly(times):
    from fractions import Fraction

    sizes = range(1, 300)
    source = np.array([[5] * n + [0] * (300 - n) for n in sizes])
    limits = ks.decoding.RelativeLength(times, plus=0).limits(tf.constant(source), 0)
    exact = [-(-n * Fraction(str(times)) // 1) for n in sizes]
    np.testing.assert_array_equal(limits, [max(int(x), 1) for x in exact])


def test_the_maximum_wins_over_the_minimum():
    search = ks.Greedy(min_length=9)
    limit = ks.decoding.RelativeLength(1.0, plus=0)
    decoded = ks.decode(known("bahdanau"), SOURCE, search, max_length=limit)
    sizes = np.count_nonzero(SOURCE, axis=1)
    np.testing.assert_array_equal(decoded.lengths[:, 0], np.maximum(sizes, 1))


def test_lists_are_sources():
    model, search = known("bahdanau"), ks.Greedy()
    expected = ks.decode(model, SOURCE, search, max_length=4)
    received = ks.decode(model, SOURCE.tolist(), search, max_length=4)
    np.testing.assert_array_equal(expected.tokens, received.tokens)


def test_a_prefix_without_columns_forces_nothing():
    model, search = known("bahdanau"), ks.Greedy()
    nothing = np.zeros([len(SOURCE), 0], int)
    expected = ks.decode(model, SOURCE, search, max_length=4)
    received = ks.decode(model, SOURCE, search, max_length=4, prefix=nothing)
    np.testing.assert_array_equal(expected.tokens, received.tokens)


@pytest.mark.parametrize("search", [ks.Greedy(), ks.BeamSearch(3, n_best=2)], ids=str)
def test_steps_that_are_not_taken_cost_nothing(search, monkeypatch):
    """A large maximum length allocates no room for steps that are not taken."""
    sizes, source = [], np.array([[5, 6, END], [7, END, 0]])

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
    for name, one, two in zip(expected._fields, expected, received, strict=True):
        np.testing.assert_array_equal(one, two, err_msg=name)


def test_seeds_share_one_graph():
    model = Counting()
    drawn = [
        ks.decode(
            model, tables(1), ks.decoding.Sample(n_best=4, seed=seed), max_length=6
        )
        for seed in (1, 2, 1, 2**40)
    ]
    assert model.traces == 1
    np.testing.assert_array_equal(drawn[0].tokens, drawn[2].tokens)
    assert not np.array_equal(drawn[0].tokens, drawn[1].tokens)


def test_ids_of_the_vocabulary_only():
    search = ks.Greedy(forbidden_tokens=(VOCABULARY,))
    with pytest.raises(ValueError, match="outside of the vocabulary"):
        ks.decode(known("bahdanau"), SOURCE, search, max_length=4)
