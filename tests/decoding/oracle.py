"""Beam search as one would explain it: a list of hypotheses, sorted at every step.

Every rule is a method of its own, so that a test can break a single one.
"""

from typing import Any, NamedTuple

import numpy as np

from tests.decoding.fakes import END, PAD, START, VOCABULARY, after, log_probs

UNCOVERED = 1e-6


class Hypothesis(NamedTuple):
    tokens: tuple = ()
    log_prob: float = 0.0
    finished: bool = False
    coverage: Any = 0.0
    looks: tuple = ()
    state: int = 0
    parent: Any = None

    @property
    def length(self):
        return len(self.tokens)


class Oracle:
    """Searches one sentence of a `TableModel`, with the options of a search."""

    def __init__(self, search):
        self.search = search

    def run(self, table, look, mask, limit, prefix=()):
        sentence = log_probs(table), look, np.asarray(mask)
        prefix = [token for token in prefix if token != PAD]
        beam, past = [Hypothesis()], []
        while not all(h.finished for h in beam):
            t = len(past)
            candidates = [
                c for h in beam for c in self.continued(h, t, limit, prefix, *sentence)
            ]
            candidates.sort(key=lambda h: -self.ranking(h, mask, t))
            beam = self.chosen(candidates, beam)
            past.append(beam)
        return beam, past

    def chosen(self, candidates, before):
        return candidates[: self.search.width]

    def continued(self, h, t, limit, prefix, log_prob, look, mask):
        if h.finished:
            return [self.kept(h, log_prob)]
        state = after(h.state, h.tokens[-1] if h.tokens else START)
        tokens = self.allowed(h, t)
        if t < len(prefix):
            tokens = [prefix[t]]
        score, is_last = h.log_prob + log_prob[state], h.length + 1 >= limit
        looks = h.coverage + self.seen(look[state]), (*h.looks, look[state])
        return [
            Hypothesis((*h.tokens, v), score[v], v == END or is_last, *looks, state, h)
            for v in tokens
            if score[v] > -np.inf
        ]

    def kept(self, h, log_prob):
        return h._replace(parent=h)

    def seen(self, look):
        return look if look.ndim == 1 else look.mean(axis=0)

    def allowed(self, h, t):
        never = {PAD, START, *self.search.forbidden_tokens}
        if t + 1 < self.search.min_length:
            never.add(END)
        n = self.search.no_repeat_ngram
        if n:
            done = {h.tokens[i : i + n] for i in range(h.length - n + 1)}
            last = h.tokens[h.length - n + 1 :]
            never |= {v for v in range(VOCABULARY) if (*last, v) in done}
        return [v for v in range(VOCABULARY) if v not in never]

    def ranking(self, h, mask, t):
        value = h.log_prob / self.penalty(self.counted(h, t))
        return value + self.covered(h, mask)

    def counted(self, h, t):
        """Return the length for the penalty: the end token counts."""
        return h.length

    def penalty(self, length):
        return ((5 + length) / 6) ** self.search.length_penalty

    def covered(self, h, mask):
        if not self.search.coverage_penalty:
            return 0.0
        covered = np.clip(np.asarray(h.coverage)[mask], UNCOVERED, 1)
        return self.search.coverage_penalty * np.log(covered).sum()


def everything(table, look, mask, limit, search):
    """Return all targets that end within the limit, and the unfinished ones there."""
    oracle = Oracle(search)
    sentence = log_probs(table), look, np.asarray(mask)
    open_ones, done = [Hypothesis()], []
    for t in range(limit):
        longer = [
            c for h in open_ones for c in oracle.continued(h, t, limit, (), *sentence)
        ]
        done += [h for h in longer if h.finished]
        open_ones = [h for h in longer if not h.finished]
    return sorted(done, key=lambda h: -oracle.ranking(h, mask, limit))


def check_all(decoded, search, source, limit, prefix=None):
    """Check each sentence alone; the oracle has no early stop."""
    oracle = Oracle(search)
    for row, (table, look, mask) in enumerate(sentences(source)):
        forced = () if prefix is None else tuple(prefix[row])
        beam, _ = oracle.run(table, look, mask, limit, forced)
        best = beam[: search.n_best]
        check(decoded, row, best, [oracle.ranking(h, mask, limit) for h in best])


def check(decoded, row, expected, rankings=None, atol=2e-4):
    """Check that a sentence of a `Decoded` has these hypotheses, in this order."""
    tokens, lengths, scores, ranking, alignments = (np.asarray(x)[row] for x in decoded)
    real = [h for h in expected if h.log_prob > -np.inf]
    wanted = [h.tokens for h in real] + [()] * (len(lengths) - len(real))
    assert [tuple(x[:n]) for x, n in zip(tokens, lengths, strict=True)] == wanted
    for i, h in enumerate(real):
        np.testing.assert_allclose(scores[i], h.log_prob, atol=atol)
        if rankings is not None:
            np.testing.assert_allclose(ranking[i], rankings[i], atol=atol)
        looks, received = np.stack(h.looks, axis=-2), alignments[i][..., : h.length, :]
        np.testing.assert_allclose(received, looks, rtol=0, atol=1e-6)
        assert not tokens[i, h.length :].any()
        assert not alignments[i][..., h.length :, :].any()
    assert np.all(np.isneginf(scores[len(real) :]))


def sentences(source):
    return zip(source["table"], source["look"], source["mask"], strict=True)
