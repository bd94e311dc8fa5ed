"""How translations are shown: in a notebook, in a page, in a terminal."""

import sys

from keras_seqattn.pictures.picture import picture_of
from keras_seqattn.translator.page import frame, page

MOST = 20  # sentences in the cell of a notebook


class Shown:
    """What `Translation` and `Translations` have in common; they say `_all()`."""

    def html(self, title="Attention"):
        """A page with the attention: heat maps, links, texts, hypotheses, export.

        It is complete in itself and needs no network, so it can be sent and put
        anywhere: `Path("x.html").write_text(translation.html(), encoding="utf-8")`.

        Args:
            title: of the page.

        Returns:
            str.
        """
        return page([picture_of(translation) for translation in self._all()], title)

    def show(self):
        """Shows the attention: in a notebook as `html` in the cell, elsewhere printed.

        It opens no window and writes no file. Of many translations, the first 20.
        """
        if _in_notebook():
            sys.modules["IPython"].display.display(self)
            return
        for translation in self._all()[:MOST]:
            print(
                f"{translation.source}\n{translation.text}\n{translation.heat_map()}\n"
            )

    def _repr_html_(self):
        """What a notebook shows where this is the last value of a cell."""
        found = self._all()
        shown = frame(page([picture_of(translation) for translation in found[:MOST]]))
        if len(found) > MOST:
            shown += f"<p>The first {MOST} of {len(found)}; html() has them all.</p>"
        return shown


def _in_notebook():
    """Whether IPython runs, and for a front end that draws: not in a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None
