"""How translations are displayed: notebook, page, terminal, figure."""

import sys
import types
import warnings

import matplotlib
import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.translator import displayable
from keras_seqattn.translator.translation import Token, Translation, Translations

matplotlib.use("Agg")


def translation(source=("Bald", "▁regnet"), target=("It", "</s>"), **about):
    tokens = [Token(piece, i, i + 1) for i, piece in enumerate(source)]
    alignment = np.full((len(target), len(source)), 1 / len(source), "float32")
    fields = {"source": "ab", "text": "It", "score": -1.0, "ranking": -0.5, **about}
    return Translation(
        source_tokens=tokens, target_tokens=list(target), alignment=alignment, **fields
    )


class Shell:
    """Of IPython: with a kernel in a notebook, without in a terminal."""

    def __init__(self, is_notebook):
        if is_notebook:
            self.kernel = object()


@pytest.fixture
def ipython(monkeypatch):
    """Puts an IPython in place; returns what it displayed."""

    def put(is_notebook):
        displayed = []
        display = types.SimpleNamespace(display=displayed.append)
        module = types.SimpleNamespace(
            get_ipython=lambda: Shell(is_notebook), display=display
        )
        monkeypatch.setitem(sys.modules, "IPython", module)
        return displayed

    return put


# Pages --------------------------------------------------------------------------------


def test_html():
    one = translation(alternatives=(translation(text="That"),))
    assert one.html("My <title>").startswith("<!DOCTYPE html>")
    assert "<title>My &lt;title&gt;</title>" in one.html("My <title>")
    assert '"text":"That"' in one.html()
    assert Translations([one, one]).html().count('"version":1') == 2


def test_last_value_of_a_cell():
    one = translation()
    assert one._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert one._repr_html_().endswith("</iframe>")
    many = Translations([one] * 25)
    cell = many._repr_html_()
    assert cell.endswith("<p>The first 20 of 25; html() has them all.</p>")
    assert cell.count("&quot;version&quot;:1") == 20
    assert len(cell) < 150_000


def test_show_in_a_notebook(ipython, capsys):
    displayed, one = ipython(True), translation()
    one.show()
    assert displayed == [one] and capsys.readouterr().out == ""


@pytest.mark.parametrize("has_ipython", [False, True])
def test_show_in_a_terminal(ipython, capsys, monkeypatch, has_ipython):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    displayed = ipython(False) if has_ipython else []
    one = translation()
    Translations([one] * (displayable.MOST + 5)).show()
    printed = capsys.readouterr().out
    assert displayed == []
    assert printed == f"ab\nIt\n{one.heat_map()}\n\n" * displayable.MOST


# Figures ------------------------------------------------------------------------------


def test_figure(tmp_path):
    figure = translation(source=["$x$", "▁b c"]).figure()
    [axes] = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["$x$", "▁b␣c"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["It", "⏎"]
    [image] = axes.images
    assert (image.get_array() == 0.5).all() and image.get_clim() == (0, 1)
    figure.savefig(tmp_path / "figure.svg")
    assert b"<svg" in (tmp_path / "figure.svg").read_bytes()


def test_figure_of_single_characters_has_upright_labels():
    upright, turned = (
        translation(source=source).figure().axes[0].get_xticklabels()[0].get_rotation()
        for source in (["a", "b"], ["ab", "b"])
    )
    assert (upright, turned) == (0, 45)


def test_figure_opens_no_window():
    import matplotlib.pyplot

    translation().figure()
    assert matplotlib.pyplot.get_fignums() == []


def test_figure_says_what_its_font_cannot_draw():
    with pytest.warns(UserWarning) as warned:
        translation(source=["注意", "力"]).figure()
    assert str(warned[0].message) == (
        "Translation.figure draws boxes for 3 characters. Expected fonts that have all "
        "characters, received ['sans-serif'] without '力意注' (CJK UNIFIED "
        'IDEOGRAPH-529B). Pass other fonts, e.g. font=["DejaVu Sans", "Noto Sans CJK '
        'JP"]; or use Translation.html, because browsers choose fonts themselves.'
    )
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        translation(source=["été", "Ωж"]).figure(font="DejaVu Sans")


def test_figure_with_a_font_that_is_not_there():
    with pytest.raises(ValueError) as raised:
        translation().figure(font=["DejaVu Sans", "No Such Font"])
    assert str(raised.value) == (
        "Translation.figure got an unknown font. Expected a name that Matplotlib "
        "knows, received 'No Such Font'. Call "
        "matplotlib.font_manager.get_font_names() for a list."
    )


def test_figure_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError) as raised:
        translation().figure()
    assert str(raised.value) == (
        "Translation.figure needs a package that is not installed. Expected "
        'matplotlib, received "import of matplotlib halted; None in sys.modules". Run '
        '`pip install "keras_seqattn[plot]"`; Translation.show and Translation.html do '
        "not need it."
    )


def test_translations_are_displayable():
    assert issubclass(ks.translator.Translation, displayable.Displayable)
    assert issubclass(ks.translator.Translations, displayable.Displayable)
