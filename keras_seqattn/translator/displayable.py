"""How translations are displayed: in a notebook, in an HTML page, in a terminal."""

import sys

from keras_seqattn.pictures.picture import picture_of
from keras_seqattn.translator.page import frame, page

MOST = 20  # sentences in one cell of a notebook


class Displayable:
    """Base of `Translation` and `Translations`. Subclasses define `_all()`."""

    def html(self, title="Attention"):
        """Return a page with the attention: heat maps, links, texts, hypotheses.

        The page needs no other file and no network, so it can be sent and put anywhere:
        `Path("x.html").write_text(translation.html(), encoding="utf-8")`.

        Args:
            title: title of the page.

        Returns:
            str.
        """
        return page([picture_of(translation) for translation in self._all()], title)

    def show(self):
        """Show the attention: the page in a notebook, a drawing in a terminal.

        It opens no window and writes no file. It shows at most 20 translations.
        """
        if _in_notebook():
            sys.modules["IPython"].display.display(self)
            return
        for translation in self._all()[:MOST]:
            print(
                f"{translation.source}\n{translation.text}\n{translation.heat_map()}\n"
            )

    def _repr_html_(self):
        """Return what a notebook shows if this is the last value of a cell."""
        translations = self._all()
        pictures = [picture_of(translation) for translation in translations[:MOST]]
        content = frame(page(pictures))
        count = len(translations)
        if count > MOST:
            content += f"<p>The first {MOST} of {count}; html() has them all.</p>"
        return content


def _in_notebook():
    """Whether IPython runs with a front end that shows HTML, not in a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None
