"""Pictures of sentences in several scripts, made up, but as a trained model's look."""

import json

import numpy as np

from keras_seqattn.metrics.alignment_error import GoldLinks
from keras_seqattn.pictures.picture import hypothesis, picture, to_json
from keras_seqattn.pictures.token_places import in_text

END = "</s>"


def soft(links, target, source, heads=1, sharp=6.0, seed=0):
    """`[heads, target, source]`: most of the weight where the links are.

    Args:
        links: for each target token a source token, or a list of them.
        target: number of target tokens.
        source: number of source tokens.
        heads: how many; each looks a little elsewhere.
        sharp: how much more a link weighs than its surroundings.
        seed: of the noise.
    """
    random = np.random.default_rng(seed)
    places = np.arange(source)
    weights = np.empty((heads, target, source))
    for h in range(heads):
        for i in range(target):
            looked = links[i] if isinstance(links[i], list) else [links[i]]
            near = max(-abs(places - (j + 0.35 * h)).min() for j in looked)
            scores = -1.1 * np.abs(places[:, None] - (np.array(looked) + 0.4 * h))
            scores = sharp / (1 + 0.6 * h) + near + scores.max(axis=1)
            scores = scores + random.normal(0, 0.9, source)
            weights[h, i] = np.exp(scores - scores.max())
    return weights / weights.sum(axis=-1, keepdims=True)


def made(source, targets, *, reference=None, gold=None, **about):
    """A picture of texts and pieces.

    Args:
        source: `(text, pieces)`.
        targets: list of `(text, pieces, weights)`, or with a dict of what else is known
            as the fourth.
        reference: str or None.
        gold: `GoldLinks` or None.
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
    """`[heads, target, source]`."""
    return one["hypotheses"][hypothesis]["weights"]


def as_json(one):
    """A picture as a browser gets it."""
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

    def made_up(links, extra):
        size = len(SOURCE[1])
        return soft(links, len(links), size, heads, sharp, seed + extra)

    sure = {(0, 0), (1, 2), (2, 3), (4, 1), (5, 4), (6, 5)}
    return made(
        SOURCE,
        [
            (*BEST, made_up(LINKS, 0), {"score": -4.2134, "ranking": -0.351}),
            (*SECOND, made_up(SECOND_LINKS, 1), {"score": -5.0871, "ranking": -0.391}),
            (
                *REFERENCE,
                made_up(REFERENCE_LINKS, 2),
                {"kind": "forced", "rank": 0, "score": -7.9052},
            ),
        ],
        reference=REFERENCE[0],
        gold=GoldLinks(sure, sure | {(3, 1), (6, 6)}),
        heads=[f"layer {1 + h // 4} head {1 + h % 4}" for h in range(heads)]
        if heads > 1
        else None,
    )


# Other scripts, and hostile texts -----------------------------------------------------

ARABIC = (
    "قطة سوداء تنام على السجادة في بيت New York.",
    "قطة سوداء تنام على السجادة في بيت New York .".split() + [END],
)
HEBREW = ("החתול השחור ישן על השטיח.", "החתול השחור ישן על השטיח .".split() + [END])
CHINESE = ("注意力让模型看到整个句子。", [*"注意力让模型看到整个句子。", END])
JAPANESE = (
    "注意は文全体を見せる。",
    ["注意", "は", "文", "全体", "を", "見せる", "。", END],
)
LONG = "x" * 10_000
HOSTILE = [
    "<script>document.title='owned'</script>",
    "\"'><img src=x onerror=document.title='owned'>",
    "</script><svg/onload=document.title='owned'>",
    "\u202eright\u2066",
    "👩\u200d👩\u200d👧",
    LONG,
    "\0\x1b[2J\u2028",
    "__proto__",
    "javascript:alert(1)",
    "=1+1",
    "שלום",
]


def right_to_left():
    """From Arabic, with words of another script in it, to Hebrew."""
    size = len(HEBREW[1]), len(ARABIC[1])
    return made(ARABIC, [(*HEBREW, soft([0, 1, 2, 3, 4, 9, 10], *size))])


def wide():
    """From Chinese to Japanese, neither of which has blanks."""
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
    """Words that mean nothing, so many of them."""
    random = np.random.default_rng(seed)
    letters = np.array([*"abcdefghiklmnopr"])
    sizes = random.integers(2, 8, max(rows, columns))
    words = ["".join(random.choice(letters, size)) for size in sizes]
    source, target = words[:columns], words[:rows]
    links = np.linspace(0, columns - 1, rows).round().astype(int).tolist()
    weights = soft(links, rows, columns, seed=seed)
    said = " ".join(target), target, weights, about
    return made((" ".join(source), source), [said])
