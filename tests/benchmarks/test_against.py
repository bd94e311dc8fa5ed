"""Two checkouts take turns: processes of each, and nothing of the other in them."""

import os
import re
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest

from benchmarks import against, paired, run
from benchmarks.processes import ROOT

LIBRARY = "SECONDS, ANSWER, MEGABYTES = {seconds}, {answer}, {megabytes}\n"
CATALOGUE = """
import time
import numpy as np
import keras_seqattn as ks
from benchmarks import contender, machine
from benchmarks.registry import Benchmark, Entry, Tolerance

machine.gemm_peak = lambda: 5e11  # TensorFlow's import takes seconds

def {function}(length):
    answer = np.array(ks.ANSWER)

    def step():
        answer[...] += 1
        time.sleep(ks.SECONDS)
        return np.ones(ks.MEGABYTES * 10**6, "uint8")

    return contender.Contender(step, lambda: {{"answer": answer}})

entries = {{"ours": "{function}", "rival": "no"}}.items()
entries = {{name: Entry(f"benchmarks.catalogue:{{make}}") for name, make in entries}}
points = {{"{label}": {{"length": {length}}}}}
naps = Benchmark("naps", "How long.", entries, points, (Tolerance("answer", 1e-3),))
weights = naps._replace(name="weights", kind="memory")
BENCHMARKS = {{"naps": naps, "weights": weights}}
"""
USUAL = {"seconds": 0.002, "answer": 1.0, "megabytes": 1, "length": 8}
USUAL |= {"function": "sleeper", "label": "reference"}
USUAL |= {"packages": ("keras_seqattn", "zoo")}


@pytest.fixture
def checkout(tmp_path):
    """Makes a small one: these benchmarks, but for the catalogue, and a library."""

    def checkout(name, **changes):
        root, values = tmp_path / name, {**USUAL, **changes}
        other = shutil.ignore_patterns("catalogue", "results", "__pycache__")
        shutil.copytree(ROOT / "benchmarks", root / "benchmarks", ignore=other)
        (root / "benchmarks/catalogue.py").write_text(CATALOGUE.format(**values))
        for package in values["packages"]:
            (root / package).mkdir()
            (root / package / "__init__.py").write_text(LIBRARY.format(**values))
        return root

    return checkout


def compare(new, old, name="naps", *options):
    command = [sys.executable, "-m", "benchmarks.run", name, "--against", str(old)]
    # Here is a third checkout, of which nothing may come.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    how = {"cwd": new, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([*command, "--turns", "2", *options], **how)
    return done.returncode, done.stdout + done.stderr


def ratios(text):
    """Of a table: new / old by the first word of the line."""
    lines = re.findall(r"^  (\w+) .* ([\d.]+)   *[\d.]+ to [\d.]+$", text, re.MULTILINE)
    return {word: float(number) for word, number in lines}


@pytest.mark.system
def test_slower_and_faster(checkout):
    quick = checkout("quick", function="named_otherwise")
    slow = checkout("slow", seconds=0.02, megabytes=40)
    code, text = compare(slow, quick)
    assert code == 1, text
    assert f"old: {quick}" in text and f"new: {slow}" in text
    assert ratios(text)["wall"] > 1.5 and ratios(text)["memory"] > 1.5
    assert "of new processes: 1, 2 turns in each; repetitions in a turn: 20" in text
    assert "GEMM peak of this run" in text and "500 GFLOP/s" in text
    assert re.search(r"^  slower: [\d.]+ is above 1.03", text, re.MULTILINE)
    code, text = compare(quick, slow)
    assert code == 0 and ratios(text)["wall"] < 0.7, text
    assert "not slower: " in text and "not more memory: " in text
    code, text = compare(slow, quick, "weights")
    assert code == 1 and "  more memory: " in text, text
    assert list(ratios(text)) == ["memory"] and ratios(text)["memory"] > 1.5
    code, text = compare(quick, slow, "weights")
    assert code == 0 and "not more memory: " in text, text


@pytest.mark.parametrize(
    "other, parts",
    [
        ({"answer": 1.1}, "old: answer differs by 1.0e-01|no figures: they disagree"),
        ({"length": 9}, "old: length is 9, not 8|no figures: they disagree"),
        ({"label": "other"}, "'weights other']|received 'naps reference' for {}. Cho"),
        ({"seconds": "''"}, "an answer to 'repeat'|received: TypeError: |Repair"),
        (
            {"packages": ["keras_seqattn"]},
            "The old code is not that of its checkout. Expected zoo of|received "
            f"{ROOT / 'zoo'}|a whole checkout",
        ),
    ],
)
def test_no_figures(checkout, other, parts):
    old = checkout("old", **other)
    code, text = compare(checkout("new"), old)
    assert code == 1 and not ratios(text), text
    assert [part for part in parts.split("|") if part.format(old) not in text] == []


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["naps"], r"expected of \['train_step'"),
        ([], "Expected names of benchmarks and 1 turn or more, received"),
        (["train_step", "--turns", "0"], "received 0 turns of train_step"),
        (["train_step"], "received a folder without keras_seqattn/__init__.py"),
    ],
)
def test_nothing_to_compare(arguments, part, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        run.main([*arguments, "--against", str(tmp_path)])
    assert end.value.code == 2
    assert re.search(part, capsys.readouterr().err)


def test_ratio_of_turns():
    rng = np.random.default_rng(0)
    machine = rng.uniform(1, 3, (5, 4))  # slows down and recovers
    found = paired.ratio(machine, 1.1 * machine)
    np.testing.assert_allclose(found, [1.1, 1.1, 1.1])
    turns = rng.normal(1.0, 0.01, (5, 4))
    narrow = paired.ratio(machine, machine * turns)
    assert 0.99 < narrow.low <= narrow.middle <= narrow.high < 1.01
    assert paired.ratio(machine, machine * turns) == narrow  # seeded
    starts = np.array([[0.96], [0.98], [1.0], [1.02], [1.04]])
    wide = paired.ratio(machine, machine * turns * starts)
    assert wide.low < 0.985 and wide.high > 1.015
    assert paired.ratio([[2.0]], [[3.0]]) == (1.5, 1.5, 1.5)


@pytest.mark.parametrize(
    "found, is_kept, words",
    [
        ((0.9, 0.8, 0.95), True, "not slower: 0.900 is at most 1.03"),
        ((1.03, 1.02, 1.04), True, "not slower: 1.030 is at most 1.03"),
        ((1.05, 0.99, 1.2), True, "not slower: 1.050 is above 1.03, but its interval"),
        ((1.05, 1.01, 1.2), False, "slower: 1.050 is above 1.03"),
    ],
)
def test_verdicts(found, is_kept, words):
    found = paired.Ratio(*found)
    assert found.is_kept is is_kept
    assert paired.verdict("slower", found).startswith(words)


def test_they_take_turns():
    order = []
    pair = [
        types.SimpleNamespace(name=name, ask=lambda _, name=name: order.append(name))
        for name in ("old", "new")
    ]
    for turn in range(2):
        against._turn(pair, 2, turn)
    assert order == "old new new old new old old new".split()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["train_step", "memory_1000"])
def test_this_checkout_against_itself(name, capsys):
    arguments = [name, "--smoke", "--turns", "2", "--against", str(ROOT)]
    run.main(arguments)  # so small that nothing is said of what is slower
    text = capsys.readouterr().out
    assert "memory" in ratios(text), text
