"""What the tab decides without a browser: filters, choices, links."""

import pytest

from tests.tensorboard_plugin.nodejs import run

METRICS = {"coverage_deviation": 0.4, "bleu": 12.5, "length_ratio": None}
KEYS = [*METRICS]


@pytest.mark.parametrize(
    "text, passes, wrong",
    [
        ("", True, []),
        ("haus", True, []),
        ("ein KATZE", False, []),
        ("bleu<20", True, []),
        ("bleu<20 coverage>0.4", False, []),  # the beginning of a name will do
        ("bleu>=12.5 coverage_deviation<=.4 ein", True, []),
        ("length>0", False, []),  # which it has not
        ("bleu<low ein", True, ["bleu<low"]),
        ("speed<1", True, ["speed<1"]),
        ("<b>", False, []),  # a word
    ],
)
def test_filter(text, passes, wrong):
    body = """
    const filter = m.parseFilter(x.text, x.keys);
    return [m.passes(filter, "Ein Haus", x.metrics), filter.wrong];
    """
    given = {"text": text, "keys": KEYS, "metrics": METRICS}
    assert run("tab_filter.js", body, given) == [passes, wrong]


def sentences(*texts):
    return [{"tag": f"p/{i}", "text": text, "last": 3} for i, text in enumerate(texts)]


RUNS = {
    "run_10": {"sentences": sentences("a", "b"), "tables": []},
    "run_2": {"sentences": sentences("b", "c"), "tables": []},
    "empty": {"sentences": [], "tables": []},
}


@pytest.mark.parametrize(
    "wish, found, missing",
    [
        ({}, [["run_2", "b"]], []),
        ({"run": "run_10", "sentence": "p/1"}, [["run_10", "b"]], []),
        ({"run": "empty"}, [["run_2", "b"]], ["run empty"]),
        ({"sentence": "p/7"}, [["run_2", "b"]], ["sentence p/7"]),
        ({"other": "run_10"}, [["run_2", "b"], ["run_10", "b"]], []),
        ({"other": "run_2"}, [["run_2", "b"]], []),
        ({"other": "gone"}, [["run_2", "b"]], ["run gone"]),
        (
            {"sentence": "p/1", "other": "run_10"},
            [["run_2", "c"]],
            ["this sentence in run_10"],
        ),
    ],
)
def test_choice(wish, found, missing):
    body = """
    const {names, sentences, missing} = m.choose(x.runs, x.wish);
    return [names, sentences.map(({run, text}) => [run, text]), missing];
    """
    expected = [["run_2", "run_10"], found, missing]
    assert run("tab_choice.js", body, {"runs": RUNS, "wish": wish}) == expected


def test_no_run():
    body = "return m.choose({}, {run: 'x', other: 'y'}).run"
    assert run("tab_choice.js", body) == ""


def test_entry_at_a_step():
    body = "return [null, 0, 3, 4, 9].map((step) => m.entryAt(x, step).step)"
    entries = [{"step": 2}, {"step": 4}, {"step": 8}]
    assert run("tab_choice.js", body, entries) == [8, 2, 2, 4, 8]


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
        **{"head": 3, "gold": False},
    }
