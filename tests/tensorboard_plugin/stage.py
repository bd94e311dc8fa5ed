"""The viewer alone in Chromium: no server, its files are given out by the browser."""

from pathlib import Path

import numpy as np

import tensorboard_plugin_seqattn
from keras_seqattn.translator.page import modules
from tests.tensorboard_plugin.browser import Page

STATIC = Path(tensorboard_plugin_seqattn.__file__).parent / "static"
ADDRESS = "http://viewer.test/"
# As TensorBoard says it on the page that holds a plugin.
POLICY = (
    "default-src 'self'; font-src 'self' data:; img-src 'self' data: blob:; "
    "object-src 'none'; style-src 'self' data: 'unsafe-inline'; connect-src 'self'; "
    "script-src 'self' 'unsafe-eval'"
)
PAGE = """<!DOCTYPE html><meta charset="utf-8"><title>viewer</title>
<link rel="stylesheet" href="viewer.css">
<body style="margin: 16px"><div id="viewer"></div>
<script type="module" src="start.js"></script>"""
START = """
window.viewer = null; // not the element of this id
window.begin = () => {
  window.viewer?.destroy();
  window.changes = [];
  window.viewer = createViewer(document.getElementById("viewer"));
  window.viewer.onchange = (options) => window.changes.push(options);
};
window.begin();
"""
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
SVG = "{http://www.w3.org/2000/svg}"
CELLS = ".av-heat:not([hidden]) .av-cells"


class Stage(Page):
    """A page with a viewer.

    Args:
        browser: of Playwright.
        html: another page; None: one with a viewer.
        **context: of Playwright's `new_page`.
    """

    def __init__(self, browser, html=None, **context):
        context = {"viewport": {"width": 1280, "height": 900}, **context}
        super().__init__(browser.new_page(**context), ADDRESS, f"blob:{ADDRESS}")
        files = {"": html or PAGE, "start.js": modules("viewer.js") + START}
        self.policy = {} if html else {"Content-Security-Policy": POLICY}
        self.page.route("**/*", lambda route: self._give(route, files))
        self.page.goto(ADDRESS)
        if html is None:
            self.page.wait_for_function("window.viewer")

    def begin(self):
        self.complaints.clear()
        self.page.mouse.move(0, 0)
        self.run("window.begin()")
        self.dark(False)

    def _give(self, route, files):
        name = route.request.url.removeprefix(ADDRESS)
        kind = TYPES.get(Path(name).suffix, "text/html")
        body = files.get(name) or (STATIC / Path(name).name).read_text()
        route.fulfill(
            body=body,
            content_type=f"{kind}; charset=utf-8",
            headers=self.policy if name == "" else {},
        )

    def show(self, picture, **about):
        """`viewer.show`, with a picture as it travels."""
        code = "([picture, about]) => window.viewer.show(picture, about)"
        self.page.evaluate(code, [picture, about])

    def set(self, **options):
        self.page.evaluate("options => window.viewer.set(options)", options)

    def dark(self, is_dark=True):
        theme = "dark" if is_dark else "light"
        self.run(f"document.documentElement.dataset.theme = '{theme}'")

    def point(self, row, column, which=0):
        cells = self.find(CELLS).nth(which)
        cells.scroll_into_view_if_needed()
        box, (columns, rows) = cells.bounding_box(), self.size(which)
        side_x, side_y = box["width"] / columns, box["height"] / rows
        x, y = box["x"] + (column + 0.5) * side_x, box["y"] + (row + 0.5) * side_y
        self.page.mouse.move(x, y)

    def choose(self, name):
        toolbar = self.find(".av-toolbar")
        toolbar.get_by_role("button", name=name, exact=True).click()

    def values(self):
        [(_, _, values)] = self.csv()
        return values

    def run(self, expression):
        return self.page.evaluate(expression)

    def size(self, which=0):
        canvas = self.find(f"{CELLS} canvas").nth(which)
        return canvas.evaluate("canvas => [canvas.width, canvas.height]")

    def colours(self):
        """The array `[rows, columns, 3]` of the first heat map."""
        data = self.find(f"{CELLS} canvas").first.evaluate(
            """canvas => {
              const {width, height} = canvas;
              const copy = document.createElement("canvas");
              Object.assign(copy, {width, height});
              const context = copy.getContext("2d", {willReadFrequently: true});
              context.drawImage(canvas, 0, 0);
              return Array.from(context.getImageData(0, 0, width, height).data);
            }"""
        )
        columns, rows = self.size()
        return np.array(data).reshape(rows, columns, 4)[..., :3]

    def marked(self, selector):
        return self.texts(f"{selector} .av-on")

    def measure(self, name):
        row = self.find(".av-measures tr").filter(has_text=name)
        return row.locator(".av-value").inner_text()

    def read(self):
        return " ".join(self.find(".av-readout").inner_text().split())
