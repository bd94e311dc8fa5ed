"""Pictures of sentences in several scripts, made up, but as a trained model's look."""

import json

import numpy as np

from keras_seqattn.metrics.alignment_error import GoldLinks
from keras_seqattn.pictures.picture import hypothesis, picture, to_json
from keras_seqattn.pictures.token_places import in_text

END = "</s>"


def soft(links, target, source, heads=1, sharp=6.0, seed=0):
    """Weights `[heads, target, source]`, most of it where the links are.

    Args:
        links: for each target token a source token, or a list of them.
        sharp: how much more a link weighs than its surroundings.
    """
    scores = np.random.default_rng(seed).normal(0, 0.9, (heads, target, source))
    for row, looked in enumerate(links):
        scores[:, row, looked] += sharp
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def made(source, targets, *, reference=None, gold=None, **about):
    """A picture of texts and pieces.

    Args:
        source: `(text, pieces)`.
        targets: list of `(text, pieces, weights)`, or with a dict of what else is known
            as the fourth.
        **about: for all hypotheses.
    """
    text, pieces = source
    hypotheses = []
    for rank, (said, said_pieces, weights, *more) in enumerate(targets):
        known = {"rank": rank, **about, **(more[0] if more else {})}
        tokens = in_text(said, said_pieces)
        hypotheses.append(hypothesis(said, tokens, weights, **known))
    return picture(text, in_text(text, pieces), hypotheses, reference, gold)


def weights(one, hypothesis=0):
    return one["hypotheses"][hypothesis]["weights"]


def as_json(one):
    return json.loads(to_json(one))


SOURCE = (
    "Die unbändige Neugier der Forscherin überraschte niemanden.",
    "▁Die ▁un bändig e ▁Neu gier ▁der ▁Forscher in ▁überrascht e ▁niemand en .".split()
    + [END],
)
BEST = (
    "The researcher’s irrepressible curiosity surprised nobody.",
    "▁The ▁researcher ’ s ▁irre press ible ▁curiosity ▁surprised ▁nobody .".split()
    + [END],
)
LINKS = [0, 7, 8, 6, 1, 2, 2, [4, 5], 9, [11, 12], 13, 14]
SECOND = (
    "The unbounded curiosity of the researcher surprised no one.",
    "▁The ▁un bound ed ▁curiosity ▁of ▁the ▁researcher ▁surprised ▁no ▁one .".split()
    + [END],
)
SECOND_LINKS = [0, 1, 2, 3, [4, 5], 6, 6, [7, 8], 9, 11, 12, 13, 14]
REFERENCE = (
    "The researcher’s boundless curiosity surprised no one.",
    "▁The ▁researcher ’ s ▁bound less ▁curiosity ▁surprised ▁no ▁one .".split() + [END],
)
REFERENCE_LINKS = [0, 7, 8, 6, 2, 1, [4, 5], 9, 11, 12, 13, 14]
ROWS = [piece.replace(END, "⏎") for piece in BEST[1]]  # as they are shown
COLUMNS = [piece.replace(END, "⏎") for piece in SOURCE[1]]


def german(heads=1, sharp=6.0, seed=0):
    """A beam of two and the reference, subwords, gold links."""
    known = [
        (*BEST, LINKS, {"score": -4.2134, "ranking": -0.351}),
        (*SECOND, SECOND_LINKS, {"score": -5.0871, "ranking": -0.391}),
        (*REFERENCE, REFERENCE_LINKS, {"kind": "forced", "rank": 0, "score": -7.9052}),
    ]
    targets = [
        (*said, soft(to, len(to), len(SOURCE[1]), heads, sharp, seed + i), about)
        for i, (*said, to, about) in enumerate(known)
    ]
    sure = {(0, 0), (1, 2), (2, 3), (4, 1), (5, 4), (6, 5)}
    gold = GoldLinks(sure, sure | {(3, 1), (6, 6)})
    names = [f"layer {1 + h // 4} head {1 + h % 4}" for h in range(heads)]
    about = {"reference": REFERENCE[0], "gold": gold}
    return made(SOURCE, targets, **about, heads=names if heads > 1 else None)


ARABIC = (
    "قطة سوداء تنام على السجادة في بيت New York.",
    "قطة سوداء تنام على السجادة في بيت New York .".split() + [END],
)
HEBREW = ("החתול השחור ישן על השטיח.", "החתול השחור ישן על השטיח .".split() + [END])
CHINESE = ("注意力让模型看到整个句子。", [*"注意力让模型看到整个句子。", END])
JAPANESE = ("注意は文全体を見せる。", [*"注意 は 文 全体 を 見せる 。".split(), END])
HOSTILE = [
    "<script>document.title='owned'</script>",
    "\"'><img src=x onerror=document.title='owned'>",
    "</script><svg/onload=document.title='owned'>",
    *("\u202eright\u2066", "👩\u200d👩\u200d👧", "x" * 10_000, "\0\x1b[2J\u2028"),
    *("__proto__", "javascript:alert(1)", "=1+1", "שלום"),
]


def right_to_left():
    size = len(HEBREW[1]), len(ARABIC[1])
    return made(ARABIC, [(*HEBREW, soft([0, 1, 2, 3, 4, 9, 10], *size))])


def wide():
    size = len(JAPANESE[1]), len(CHINESE[1])
    return made(CHINESE, [(*JAPANESE, soft([0, 2, 10, 9, 8, 6, 12, 13], *size))])


def hostile():
    """Tokens that would like to be something else, weights that are no numbers."""
    text, pieces = " ".join(HOSTILE), [*HOSTILE, END]
    weights = np.full((len(pieces), len(pieces)), 1 / len(pieces))
    weights[1] = np.nan
    weights[2, :3] = np.inf, -np.inf, 70_000
    return made((text, pieces), [(text, pieces, weights)], reference=text)


def plain(rows, columns, seed=0, **about):
    random = np.random.default_rng(seed)
    letters = np.array([*"abcdefghiklmnopr"])
    sizes = random.integers(2, 8, max(rows, columns))
    words = ["".join(random.choice(letters, size)) for size in sizes]
    source, target = words[:columns], words[:rows]
    links = np.linspace(0, columns - 1, rows).round().astype(int).tolist()
    weights = soft(links, rows, columns, seed=seed)
    said = " ".join(target), target, weights, about
    return made((" ".join(source), source), [said])
