"""How translations are displayed: notebook, page, terminal, figure."""

import dataclasses
import sys
import types
import warnings

import matplotlib
import numpy as np
import pytest

from keras_seqattn.text.weight_scale import scaled
from keras_seqattn.translator import displayable
from keras_seqattn.translator.translation import Token, Translation, Translations
from tests.raised import check_error, check_message

matplotlib.use("Agg")


def translation(source=("Bald", "▁regnet"), target=("It", "</s>"), **about):
    tokens = [Token(piece, i, i + 1) for i, piece in enumerate(source)]
    alignment = np.full((len(target), len(source)), 1 / len(source), "float32")
    fields = {"source": "ab", "text": "It", "score": -1.0, "ranking": -0.5, **about}
    fields |= {"source_tokens": tokens, "target_tokens": list(target)}
    return Translation(alignment=alignment, **fields)


@pytest.fixture
def ipython(monkeypatch):
    """Puts an IPython in place, in a notebook with a kernel; returns what it shows."""

    def put(**kernel):
        displayed, shell = [], types.SimpleNamespace(**kernel)
        display = types.SimpleNamespace(display=displayed.append)
        module = types.SimpleNamespace(get_ipython=lambda: shell, display=display)
        monkeypatch.setitem(sys.modules, "IPython", module)
        return displayed

    return put


def test_html_also_as_the_last_value_of_a_cell():
    one = translation(alternatives=(translation(text="That"),))
    assert one.html("My <title>").startswith("<!DOCTYPE html>")
    assert "<title>My &lt;title&gt;</title>" in one.html("My <title>")
    assert '"text":"That"' in one.html()
    assert Translations([one, one]).html().count('"version":1') == 2
    one = translation()
    assert one._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert one._repr_html_().endswith("</iframe>")
    many = Translations([one] * 25)
    cell = many._repr_html_()
    assert cell.endswith("<p>The first 20 of 25; html() has them all.</p>")
    assert cell.count("&quot;version&quot;:1") == 20
    assert len(cell) < 150_000


def test_show_in_a_notebook(ipython, capsys):
    displayed, one = ipython(kernel=object()), translation()
    one.show()
    assert displayed == [one] and capsys.readouterr().out == ""


@pytest.mark.parametrize("has_ipython", [False, True])
def test_show_in_a_terminal(ipython, capsys, monkeypatch, has_ipython):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    displayed = ipython() if has_ipython else []
    one = translation()
    Translations([one] * (displayable.MOST + 5)).show()
    printed = capsys.readouterr().out
    assert displayed == []
    assert printed == f"ab\nIt\n{one.heat_map()}\n\n" * displayable.MOST


def test_figure_without_a_window(tmp_path):
    from matplotlib import pyplot

    figure = translation(source=["$x$", "▁b c"]).figure()
    [axes] = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["$x$", "▁b␣c"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["It", "⏎"]
    [image] = axes.images
    assert (image.get_array() == 0.5).all() and image.get_clim() == (0, 1)
    figure.savefig(tmp_path / "figure.svg")
    assert b"<svg" in (tmp_path / "figure.svg").read_bytes()
    assert pyplot.get_fignums() == []


def test_figure_of_weights_that_are_no_alignment_and_of_characters():
    weights = np.array([[np.nan, 4.0], [1.0, 2.0]])
    [axes] = dataclasses.replace(translation(), alignment=weights).figure().axes
    [image], [crosses] = axes.images, axes.lines
    assert image.get_array().filled(9).tolist() == [[9, 1], [0.25, 0.5]]
    assert crosses.get_xydata().tolist() == [[0, 0]]
    assert " ".join(axes.get_xlabel().split()).startswith(scaled(weights).notes[0])
    for source, rotation in ((["a", "b"], 0), (["ab", "b"], 45)):
        [axes] = translation(source=source).figure().axes
        assert axes.get_xticklabels()[0].get_rotation() == rotation


def test_figure_says_what_its_font_cannot_draw():
    with pytest.warns(UserWarning) as warned:
        translation(source=["注意", "力"]).figure()
    received = "['sans-serif'] without '力意注' (CJK UNIFIED IDEOGRAPH-529B)"
    what = "Translation.figure draws boxes for 3 characters"
    check_message(str(warned[0].message), what, received)
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        translation(source=["été", "Ωж"]).figure(font="DejaVu Sans")


def test_figure_without_its_font_or_without_matplotlib(monkeypatch):
    fonts, received = ["DejaVu Sans", "No Such Font"], "received 'No Such Font'"
    what = "Translation.figure got an unknown font"
    check_error(lambda: translation().figure(font=fonts), what, received)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    what = "Translation.figure needs a package that is not installed"
    check_error(translation().figure, what, 'pip install "keras_seqattn[plot]"')
