"""The functions of the demo; test_examples.py runs it."""

import pytest

from examples import demo
from keras_seqattn.data import Pairs


def test_different_answers_end_it(capsys):
    demo.check_same(["2003-05-01"], ["2003-05-01"])
    with pytest.raises(SystemExit) as caught:
        demo.check_same(["2003-05-01"], ["2003-05-02"])
    assert caught.value.code not in (None, 0)  # a message: the exit code is 1


@pytest.mark.slow
def test_an_export_that_cannot_be_used_ends_it(tmp_path):
    with pytest.raises(SystemExit, match="cannot be used:\n(.|\n)*OSError"):
        demo.answers_of_a_new_process(tmp_path, ["1 May 2003"])


def test_exact_match_is_of_all(capsys):
    pairs = Pairs(["a", "b", "c", "d"], ["1", "2", "3", "4"])
    demo.show_exact_match(pairs, ["1", "2", "x", "4"])
    printed = capsys.readouterr().out
    assert "3 of 4 dates" in printed and "exact match 75.0 %" in printed
    assert printed.endswith("Wrong: c  ->  x, not 3\n")
