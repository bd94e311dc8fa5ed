"""Errors of other libraries, each with an oracle that has the same error.

The defective rule is an oracle with one method broken: it must find something else on
the same sentences, and we must not.
"""

import numpy as np
import pytest

import keras_seqattn as ks
from tests.decoding.fakes import END, SOURCE, Speller, TableModel, after, tables
from tests.decoding.oracle import Oracle, check, sentences

MODEL, LIMIT, BATCH = TableModel(), 7, 8


class EndExcluded(Oracle):
    """TFA: the length lacks the end token in its own step, not in the next one."""

    def counted(self, h, t):
        new = h.parent is not None and h.parent.length < h.length
        return h.length - (new and h.tokens[-1] == END)


class StepAsLength(Oracle):
    """ONMT #456, #457: the number of the step replaces the lengths of hypotheses."""

    def counted(self, h, t):
        return t + 1


class OthersLogProb(Oracle):
    """ONMT: a finished hypothesis gets the log-probability of its place."""

    def chosen(self, candidates, before):
        beam = super().chosen(candidates, before)
        return [
            h._replace(log_prob=before[place].log_prob)
            if h.parent.finished and place < len(before)
            else h
            for place, h in enumerate(beam)
        ]


class AddsAfterTheEnd(Oracle):
    """KH: log-probabilities of tokens after the end token are added, too."""

    def kept(self, h, log_prob):
        following = log_prob[after(h.state, END)].max()
        return h._replace(parent=h, log_prob=h.log_prob + following)


class CoverageOfFinished(Oracle):
    """TFA #859: only finished hypotheses have a coverage penalty."""

    def covered(self, h, mask):
        return super().covered(h, mask) if h.finished else 0.0


class PenaltiesAtTheEnd(Oracle):
    """The beam is chosen by log-probability; penalties only sort the final beam."""

    def ranking(self, h, mask, t):
        return super().ranking(h, mask, t) if t == LIMIT else h.log_prob


SEARCHES = {
    EndExcluded: ks.BeamSearch(2, n_best=2, length_penalty=1.0),
    StepAsLength: ks.BeamSearch(3, n_best=3, length_penalty=1.5),
    OthersLogProb: ks.BeamSearch(3, n_best=3),
    AddsAfterTheEnd: ks.BeamSearch(3, n_best=3),
    CoverageOfFinished: ks.BeamSearch(3, n_best=3, coverage_penalty=0.6),
    PenaltiesAtTheEnd: ks.BeamSearch(2, n_best=2, length_penalty=2.0),
}


def best(oracle, table, look, mask):
    """Return the final hypotheses of a rule, sorted by their ranking."""
    beam, _ = oracle.run(table, look, mask, LIMIT)
    beam = sorted(beam, key=lambda h: -oracle.ranking(h, mask, LIMIT))
    return beam[: oracle.search.n_best]


@pytest.mark.parametrize("rule", SEARCHES, ids=lambda rule: rule.__name__)
def test_defect(rule):
    source, search = tables(0, batch=BATCH, scale=0.6), SEARCHES[rule]
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    others = 0
    for row, sentence in enumerate(sentences(source)):
        right, wrong = [best(r(search), *sentence) for r in (Oracle, rule)]
        check(decoded, row, right)
        others += [h.tokens for h in right] != [h.tokens for h in wrong]
        others += not np.allclose(
            [h.log_prob for h in right], [h.log_prob for h in wrong]
        )
    assert others, "these sentences do not show the defect"


def distribution(**probabilities):
    """Return a sentence whose next token does not depend on earlier tokens."""
    source = tables(0, batch=1)
    source["table"][:] = -30.0
    for name, probability in probabilities.items():
        token = END if name == "end" else int(name[1:])
        source["table"][..., token] = np.log(probability)
    return source


def test_the_end_token_counts_when_it_is_chosen():
    """TFA, by hand: -ln .40 / (5/6) ranks behind -ln .38 / (6/6), -ln .40 / (6/6) not.

    `test_beam_step` cannot see it: no end token gets into its beam.
    """
    source = distribution(end=0.40, w3=0.38, w4=0.22)
    decoded = ks.decode(MODEL, source, ks.BeamSearch(1, length_penalty=1.0), LIMIT)
    assert decoded.tokens.numpy().tolist() == [[[END]]]
    wrong, _ = EndExcluded(ks.BeamSearch(1, length_penalty=1.0)).run(
        *next(sentences(source)), LIMIT
    )
    assert wrong[0].tokens[0] == 3


def test_a_finished_hypothesis_is_ranked_once():
    """TFA ranks it again one step later with another penalty; ours never changes."""
    source = tables(21, batch=BATCH)
    source["table"][..., END] += 1.0
    search = ks.BeamSearch(4, n_best=4, length_penalty=0.8, coverage_penalty=0.2)
    rankings, seen = [{} for _ in range(BATCH)], 0
    for limit in range(1, LIMIT):
        decoded = ks.decode(MODEL, source, search, max_length=limit)
        values = [x.numpy() for x in (decoded.tokens, decoded.lengths, decoded.ranking)]
        for known, *row in zip(rankings, *values, strict=True):
            for tokens, length, ranking in zip(*row, strict=True):
                tokens = tuple(tokens[:length])
                if length and tokens[-1] == END:
                    seen += tokens in known
                    expected = known.setdefault(tokens, ranking)
                    np.testing.assert_allclose(ranking, expected, rtol=0, atol=1e-6)
    assert seen > BATCH


def unsorted_looks(past, look):
    """Return alignments as they were written, without following parents."""
    open_ones = [past[t - 1] if t else [None] for t in range(len(past))]
    for beam in open_ones:
        yield [
            look[after(0, 1)]
            if h is None
            else look[h.state if h.finished else after(h.state, h.tokens[-1])]
            for h in beam
        ]


def test_alignments_follow_the_survivors():
    """TF #13154, OpenNMT-tf #142: they return the alignments of a place."""
    source, search = (
        tables(5, batch=BATCH, scale=0.8),
        ks.BeamSearch(4, n_best=1),
    )
    source["table"][..., END] -= 1.0
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    others = 0
    for row, (table, look, mask) in enumerate(sentences(source)):
        beam, past = Oracle(search).run(table, look, mask, LIMIT)
        check(decoded, row, beam[:1])
        raw = [looks[0] for looks in unsorted_looks(past, look)][: beam[0].length]
        others += not np.allclose(raw, np.stack(beam[0].looks))
    assert others


def test_unknown_words_come_from_the_survivors_alignment():
    """tensorflow/nmt #138: the replacing word follows the hypothesis."""
    source, search = tables(5, batch=BATCH, scale=0.8), ks.BeamSearch(4)
    source["table"][..., END] -= 1.0
    decoded = ks.decode(MODEL, source, search, max_length=LIMIT)
    words = np.array([[f"{row}.{j}" for j in range(SOURCE)] for row in range(BATCH)])
    words = np.where(source["mask"], words, "")
    unknown = np.where(decoded.tokens.numpy()[:, 0] == 3, "<unk>", "x")
    received = ks.decoding.replace_unknown(
        unknown, words, decoded.alignments[:, 0]
    ).numpy()
    assert (unknown == "<unk>").any()
    for row, (table, look, mask) in enumerate(sentences(source)):
        beam, _ = Oracle(search).run(table, look, mask, LIMIT)
        for t, token in enumerate(beam[0].tokens):
            expected = f"{row}.{beam[0].looks[t].argmax()}" if token == 3 else "x"
            assert received[row, t].decode() == expected


@pytest.mark.parametrize(
    "search",
    [
        ks.Greedy(),
        ks.BeamSearch(3, n_best=3),
        ks.BeamSearch(3, n_best=3, use_early_stop=False),
        ks.decoding.Sample(n_best=3, seed=1),
    ],
    ids=lambda search: type(search).__name__,
)
def test_one_end_token(search):
    """OpenNMT-tf #188: several end tokens; here padding follows the only one."""
    script = np.array(
        [[4, 2, 2, 2, 2, 2], [5, 6, 2, 7, 2, 8]]
    )  # more tokens after the end
    tokens = ks.decode(Speller(), script, search, max_length=6).tokens.numpy()
    ended = np.cumsum(tokens == END, axis=-1)
    assert ended.max() == 1
    after_the_end = (ended - (tokens == END)) > 0
    assert not tokens[after_the_end].any()
    np.testing.assert_array_equal(ended.max(axis=-1)[:, 0], [1, 1])
