"""Functions of the tab in Node: its filter, its choices, its links."""

import pytest

from tests.tensorboard_plugin.test_viewer_functions import run

METRICS = {"coverage_deviation": 0.4, "bleu": 12.5, "length_ratio": None}


@pytest.mark.parametrize(
    "text, passes, wrong",
    [
        *[("", True, []), ("haus", True, []), ("ein KATZE", False, [])],
        ("bleu<20", True, []),
        ("bleu<20 coverage>0.4", False, []),  # the beginning of a name will do
        ("bleu>=12.5 coverage_deviation<=.4 ein", True, []),
        ("length>0", False, []),  # which it has not
        ("bleu < 20  length ratio>=0", False, []),  # as it is written above the list
        ("deviation≤.4", True, []),
        ("bleu<low ein", True, [["bleu<low", "bleu"]]),
        ("bleu=12.5", True, [["bleu=12.5", "bleu"]]),
        ("speed<1 note=3", False, [["speed<1", None]]),
        ("<b>", False, []),  # a word
    ],
)
def test_filter(text, passes, wrong):
    body = """
    const filter = m.parseFilter(x.text, Object.keys(x.metrics));
    const wrong = filter.wrong.map(({word, key}) => [word, key]);
    return [m.passes(filter, "Ein Haus", x.metrics), wrong];
    """
    given = {"text": text, "metrics": METRICS}
    assert run("filter.js", body, given) == [passes, wrong]


def with_sentences(*texts):
    sentences = [{"tag": f"p/{i}", "text": x, "last": 3} for i, x in enumerate(texts)]
    return {"sentences": sentences, "tables": []}


RUNS = {
    "run_10": with_sentences("a", "b"),
    "run_2": with_sentences("b", "c"),
    "empty": with_sentences(),
}
CHOOSE = """
const {names, shown, missing} = m.choose(x.runs, x.wish);
return [names, shown.map(({run, tag}) => `${run}: ${tag}`), missing];
"""


CHOICES = [  # the wish, what is found, what is missing
    *[({}, ["run_2: p/0"], []), ({"other": "run_2"}, ["run_2: p/0"], [])],
    ({"run": "run_10", "sentence": "p/1"}, ["run_10: p/1"], []),
    ({"run": "empty"}, ["run_2: p/0"], ["run empty"]),
    ({"sentence": "p/7"}, ["run_2: p/0"], ["sentence p/7"]),
    ({"other": "run_10"}, ["run_2: p/0", "run_10: p/1"], []),
    ({"other": "gone"}, ["run_2: p/0"], ["run gone"]),
    (
        {"sentence": "p/1", "other": "run_10"},
        ["run_2: p/1"],
        ["this sentence in run_10"],
    ),
    ({"alignment": "x"}, ["run_2: p/0"], ["x of this sentence"]),
]


def alignments(*names):
    """Of the sentence p/0: "a b" has rows of a and columns of b."""
    keys = "tag", "last", "name", "rows", "columns"
    found = [(f"p/0/{name}", 3, name, *name.split()[:2]) for name in names]
    return [dict(zip(keys, values, strict=True)) for values in found]


def layered():
    runs = {name: with_sentences("b", "c") for name in ("one", "two", "plain")}
    names = {"one": ["target source 1", "source source 1"], "two": ["source source 1"]}
    for run_, known in names.items():
        runs[run_]["sentences"][0]["alignments"] = alignments(*known)
    return runs


CROSS, SELF = {"alignment": "target source 1"}, {"alignment": "source source 1"}
LAYERS = [
    (CROSS, ["one: p/0/target source 1"], []),
    (
        {**SELF, "other": "two"},
        ["one: p/0/source source 1", "two: p/0/source source 1"],
        [],
    ),
    (
        {**CROSS, "other": "two"},
        ["one: p/0/target source 1"],
        ["target source 1 in two"],
    ),
    # The other run has one alignment only, which can be compared with a layer.
    ({**CROSS, "other": "plain"}, ["one: p/0/target source 1", "plain: p/0"], []),
    (
        {**SELF, "other": "plain"},
        ["one: p/0/source source 1"],
        ["source source 1 in plain"],
    ),
    ({**SELF, "sentence": "p/1"}, ["one: p/1"], ["source source 1 of this sentence"]),
]


@pytest.mark.parametrize("wish, found, missing", LAYERS)
def test_choice_of_an_alignment(wish, found, missing):
    given = {"runs": layered(), "wish": {"run": "one", **wish}}
    assert run("tab_choice.js", CHOOSE, given)[1:] == [found, missing]


@pytest.mark.parametrize("wish, found, missing", CHOICES)
def test_choice(wish, found, missing):
    expected = [["run_2", "run_10"], found, missing]
    assert run("tab_choice.js", CHOOSE, {"runs": RUNS, "wish": wish}) == expected


def test_no_run_and_an_entry_at_a_step():
    none = "m.choose({}, {run: 'x', other: 'y'}).run"
    steps = "[null, 0, 3, 4, 9].map((step) => m.entryAt(x, step).step)"
    entries = [{"step": 2}, {"step": 4}, {"step": 8}]
    body = f"return [{none}, {steps}]"
    assert run("tab_choice.js", body, entries) == ["", [8, 2, 2, 4, 8]]


def test_link_and_state():
    body = """
    const options = {unit: "subword", hypothesis: 0, head: "mean", gold: true};
    const start = {...m.START, ...options};
    const state = m.stateOf(x, start);
    return [state, m.linkOf(state, start), m.linkOf(start, start)];
    """
    link = {"run": "1", "filter": "true", "step": "12", "head": "3", "gold": "false"}
    state, there, nothing = run("tab_state.js", body, {**link, "evil": "1"})
    assert there == link
    assert nothing == {}
    assert state == {
        **{"run": "1", "other": "", "sentence": "", "filter": "true", "step": 12},
        **{"metric": "entropy", "sort": "", "unit": "subword", "hypothesis": 0},
        **{"alignment": "", "overview": False, "head": 3, "gold": False},
    }
