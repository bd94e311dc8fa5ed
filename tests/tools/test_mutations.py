"""Faults are drawn by a seed, found again where the code moves, and caught by tests."""

import json
import subprocess
import threading

import pytest

from tools.mutations import edits, running
from tools.mutations.__main__ import main
from tools.mutations.campaign import confirm
from tools.mutations.drawing import draw
from tools.mutations.finding import NotFound, find
from tools.mutations.sources import sources

WINDOW = '''"""Windows."""

from keras import ops

BOUND = 3


class Window:
    """Looks at some positions."""

    def __repr__(self):
        return "x" if BOUND > 2 else "y"

    def look(self, x, mask, size=-1):
        if size > BOUND:
            raise ValueError(
                f"size is {size + 1}"
            )
        if size < 0:
            raise ValueError(
                f"size is {size - 1}"
            )
        total = ops.sum(ops.where(mask, x, 0.0), axis=-1)  # (1)
        return total - size, x[:, None], ~mask


def first(texts: dict[str, 1]):
    return texts[0] + "end"
'''
LIMIT = """def inside(a, most):
    if a > most:
        return False
    return a + 1


def unseen(a):
    return a - 2
"""
TEST = """import os

from keras_seqattn.ops.limit import inside


def test_inside(tmp_path):
    assert str(tmp_path).startswith(os.environ["TMPDIR"])
    assert inside(1, 1) == 2 and not inside(2, 1)
"""


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    write(root, "keras_seqattn/__init__.py", "")
    write(root, "keras_seqattn/ops/limit.py", LIMIT)
    write(root, "keras_seqattn/layers/window.py", WINDOW)
    write(root, "tests/ops/test_limit.py", TEST)
    write(root, "tools/mutations.json", "{}")
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=root, check=True)
    return root


def write(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def faults(source):
    lines, found = source.splitlines(), [edit for edit, _ in edits.edits(source)]
    assert all(edits.is_fault(source, edit) for edit in found)
    return [(x.kind, edits.edited(lines[x.line - 1], x).strip()) for x in found]


def test_kinds():
    total = "total = ops.sum(ops.where(mask, x, 0.0), axis=-1)  # (1)"
    returned = "return total - size, x[:, None], ~mask"
    expected = [
        ("axis", returned.replace(":, None", "None, :")),
        ("axis", total.replace("-1", "-2")),
        ("comparison", "if size <= 0:"),
        ("comparison", "if size >= BOUND:"),
        *[("dropped raise", "ValueError(")] * 2,
        ("mask", returned.replace("~", "")),
        ("mask", total.replace("mask", "ops.ones_like(mask)")),
        ("off by one", "if size < 1:"),
        ("off by one", 'return texts[1] + "end"'),
        ("sign", returned.replace("-", "+")),
    ]
    assert sorted(faults(WINDOW)) == expected


@pytest.mark.parametrize(
    ("line", "kind", "wrong"),
    [
        *[("y = -x", "sign", "y = x"), ("y += 1", "sign", "y -= 1")],
        ("y = (a) + 1", "off by one", "y = (a)"),
        ("y = x[1:]", "off by one", "y = x[2:]"),
        ("y = x[:-1]", "off by one", "y = x[:-2]"),
        ("y = [*range(1, n)]", "off by one", "y = [*range(1, n - 1)]"),
        ("y = x.shape[0]", "axis", "y = x.shape[1]"),
        ("y = a not in b", "comparison", "y = a in b"),
        ("y = 'ü' == x", "comparison", "y = 'ü' != x"),
        ("y = f(x, mask=mask)", "mask", "y = f(x, mask=None)"),
        ("y = mask & x", "mask", "y = mask | x"),
        *[(code, "dropped raise", "pass") for code in ("raise", "raise A(b) from c")],
    ],
)
def test_one_line(line, kind, wrong):
    assert (kind, wrong) in faults(line + "\n")


def test_no_fault():
    lines = "y = a is None", "y = 'a' + b", "raise NotImplementedError(a)", "y = -1"
    assert [faults(f"{line}\n") for line in lines] == [[]] * 4


def test_a_seed_decides(project):
    first = draw(project, 1, 8)
    assert first == draw(project, 1, 8) != draw(project, 2, 8)
    assert len({one["id"] for one in first}) == 8
    assert {one["path"].split("/")[1] for one in first} == {"ops", "layers"}
    assert len({one["kind"] for one in first}) > 3
    assert len(draw(project, 1, 60)) < 60  # there are no more


def record(project, wrong, nth=1):
    found = (one for one in draw(project, 1, 60) if one["nth"] == nth)
    return next(one for one in found if one["mutated"].strip() == wrong)


def test_found_after_a_move(project):
    wrong = record(project, "ValueError(", nth=2)
    assert wrong["function"] == "Window.look" and wrong["of"] == 2
    assert find(wrong, sources(project)).number == 20
    text = WINDOW.replace("BOUND = 3", "BOUND = 3\nMORE = 4").replace("  # (1)", "")
    (project / "keras_seqattn/layers/window.py").unlink()
    write(project, "keras_seqattn/attention/view.py", text)
    place = find(wrong, sources(project))
    assert (place.number, place.line) == (21, " " * 12 + "ValueError(")
    assert place.path == "keras_seqattn/attention/view.py"
    total = record_of(project, "total = ops.sum")
    write(project, "keras_seqattn/ops/other.py", text.replace("look", "watch"))
    assert find(total, sources(project)).function == "Window.look"
    (project / "keras_seqattn/attention/view.py").unlink()
    assert find(total, sources(project)).function == "Window.watch"


def record_of(project, line):
    write(project, "keras_seqattn/layers/window.py", WINDOW)
    found = next(one for one in draw(project, 1, 60) if line in one["line"])
    (project / "keras_seqattn/layers/window.py").unlink()
    return found


def test_of_two_errors_one_is_gone(project):
    """What is left may be the other one: rather nothing than a wrong place."""
    path = "keras_seqattn/layers/window.py"
    second = record(project, "ValueError(", nth=2)
    one_less = WINDOW.replace("raise ValueError(", "return (", 1)
    write(project, path, one_less)
    assert find(second, sources(project)).number == 20
    write(project, path, one_less.replace("size is", "Size is"))
    with pytest.raises(NotFound, match="expected one line .* received 1 that"):
        find(second, sources(project))
    second["now"] = {"path": path, "line": "if size < 0:", "mutated": "if False:"}
    assert find(second, sources(project)).line == "        if False:"
    second["now"]["line"] = "if size < 9:"
    with pytest.raises(NotFound, match='"now" points to: .* received 0. Correct'):
        find(second, sources(project))


@pytest.mark.system
def test_run_and_compare(project, tmp_path, capsys):
    caught, unseen = record(project, "if a >= most:"), record(project, "return a + 2")
    faults = json.dumps({"faults": [caught, unseen]})
    write(project, "tools/mutations.json", faults)
    before, after = str(tmp_path / "before.json"), str(tmp_path / "after.json")
    for count in (2, 0):
        assert main(["run", "--results", before], project) == 0
        assert f"{count} of 2 are to run" in capsys.readouterr().out
    results = json.loads((tmp_path / "before.json").read_text())
    test = "tests/ops/test_limit.py::test_inside"
    assert results[caught["id"]]["outcome"] == "caught"
    assert results[caught["id"]]["by"] == test and results[caught["id"]]["sure"]
    assert results[unseen["id"]]["outcome"] == "survived"
    assert main(["compare", before, before], project) == 0
    write(project, "tests/ops/test_limit.py", TEST.replace("inside(1, 1) == 2", "True"))
    main(["run", "--results", after, "--only", caught["id"]], project)
    assert main(["compare", before, after], project) == 1
    printed = capsys.readouterr().out
    assert "all                   2       1       0" in printed
    assert "is no longer caught: comparison in keras_seqattn/ops/limit.py" in printed
    assert f"bring back what {test} tested" in printed


@pytest.mark.system
@pytest.mark.parametrize(("seconds", "outcome"), [(60, "timeout"), (0.2, "time")])
def test_no_end(project, tmp_path, monkeypatch, seconds, outcome):
    """One test that hangs is a fault seen; time that is over says nothing."""
    loop = "def inside(a, most):\n    while a > most:\n        a -= 1\n    return a\n"
    write(project, "keras_seqattn/ops/limit.py", loop)
    test = "from keras_seqattn.ops.limit import inside\n\ndef test():\n    inside(2, 1)"
    write(project, "tests/ops/test_limit.py", test)
    monkeypatch.setattr(running, "ONE_TEST", 1)
    fault, never = record(project, "a += 1"), threading.Event()
    result = running.against(fault, project, tmp_path / "work", seconds, never)
    assert result["outcome"] == outcome
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("path", ["keras_seqattn/old.py", "keras_seqattn/new.py"])
def test_a_person_chooses_one_of_two_errors(path):
    """By its words wherever the file is, or by its number in a file."""
    code = "def check(size):\n" + "".join(
        f"    if {a}:\n        raise problem(\n            {a!r}\n        )\n"
        for a in ("size < 0", "size > 9")
    )
    texts = {"keras_seqattn/empty.py": "", "keras_seqattn/new.py": code}

    def number(**options):
        now = {"path": path, "line": "raise problem(", "mutated": "problem("}
        return find({"id": "m1", "now": {**now, **options}}, texts).number

    assert (number(holds="size < 0"), number(holds="size > 9")) == (3, 7)
    with pytest.raises(NotFound, match='received 2. .* "holds" or "nth"'):
        number()
    if path in texts:
        assert number(nth=2) == 7
    else:
        with pytest.raises(NotFound, match="received 0"):
            number(nth=2)


@pytest.mark.system
def test_pytest_that_ends_without_a_failed_test(tmp_path):
    original = tmp_path / "original"
    (original / "tests").mkdir(parents=True)
    (original / "tests/test_it.py").write_text("def test_it():\n    pass\n")
    ended = {"outcome": "caught", "by": "pytest ended with 4"}
    results = {
        "usable": ended | {"arguments": ["tests/test_it.py"]},
        "unusable": ended | {"arguments": ["tests/test_nothing.py"]},
        "named": {"outcome": "caught", "by": "tests/test_it.py::test_it"},
    }
    confirm(original, tmp_path, [{"id": name} for name in results], results)
    found = [(one["sure"], one["outcome"]) for one in results.values()]
    assert found == [(True, "caught"), (False, "fails anyway"), (True, "caught")]
    assert not any("arguments" in one for one in results.values())
