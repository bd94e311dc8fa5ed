"""The viewer alone in Chromium: no server, its files are given out by the browser."""

import csv
import io
from pathlib import Path

import numpy as np

import tensorboard_plugin_seqattn
from keras_seqattn.translator.page import modules
from tests.tensorboard_plugin.browser import PATIENCE

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
IMPORT = 'import {createViewer} from "./viewer.js";'
START = """
window.changes = [];
window.viewer = createViewer(document.getElementById("viewer"));
window.viewer.onchange = (options) => window.changes.push(options);
"""
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
LOCAL = (ADDRESS, f"blob:{ADDRESS}", "data:")
CELLS = ".av-heat:not([hidden]) .av-cells"


class Stage:
    """A page with a viewer, and with an ear for everything that goes wrong.

    Args:
        browser: of Playwright.
        html: another page; None: one with a viewer.
        apart: whether the viewer's modules come each from its own file, as in the tab.
        **context: of Playwright's `new_context`.
    """

    def __init__(self, browser, html=None, apart=False, **context):
        options = {"viewport": {"width": 1280, "height": 900}, **context}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.wrong, self.requests = [], []
        start = (IMPORT if apart else modules("viewer.js")) + START
        files = {"": html or PAGE, "start.js": start}
        self.policy = {} if html else {"Content-Security-Policy": POLICY}
        self.context.route("**/*", lambda route: self._give(route, files))
        self.page.on("console", lambda said: self.wrong.append(said.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(ADDRESS)
        if html is None:
            self.page.wait_for_function("window.viewer")

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.context.close()
        if failure[0] is None:
            assert self.wrong == []
            outside = [url for url in self.requests if not url.startswith(LOCAL)]
            assert outside == []

    def _give(self, route, files):
        name = route.request.url.removeprefix(ADDRESS)
        kind = TYPES.get(Path(name).suffix, "text/html")
        body = files.get(name) or (STATIC / Path(name).name).read_text()
        route.fulfill(
            body=body,
            content_type=f"{kind}; charset=utf-8",
            headers=self.policy if name == "" else {},
        )

    # What a host does -------------------------------------------------------------

    def show(self, picture, **about):
        """`viewer.show`, with a picture as it travels; returns milliseconds."""
        return self.page.evaluate(
            """([picture, about]) => {
              const start = performance.now();
              window.viewer.show(picture, about);
              document.body.getBoundingClientRect(); // layout, too
              return performance.now() - start;
            }""",
            [picture, about],
        )

    def set(self, **options):
        self.page.evaluate("options => window.viewer.set(options)", options)

    def dark(self, is_dark=True):
        theme = "dark" if is_dark else "light"
        self.page.evaluate(
            "theme => {document.documentElement.dataset.theme = theme}", theme
        )

    # What a reader does -----------------------------------------------------------

    def point(self, row, column, which=0):
        """Moves the pointer to a cell of one of the heat maps."""
        cells = self.page.locator(CELLS).nth(which)
        cells.scroll_into_view_if_needed()
        box, (columns, rows) = cells.bounding_box(), self.size(which)
        side_x, side_y = box["width"] / columns, box["height"] / rows
        x, y = box["x"] + (column + 0.5) * side_x, box["y"] + (row + 0.5) * side_y
        self.page.mouse.move(x, y)

    def choose(self, name):
        """A control by its name."""
        self.page.locator(".av-toolbar").get_by_role(
            "button", name=name, exact=True
        ).click()

    def save(self, kind):
        """The text of a file."""
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name=kind, exact=True).click()
        self.saved_as = download.value.suggested_filename
        return Path(download.value.path()).read_bytes()

    # What is seen -----------------------------------------------------------------

    def size(self, which=0):
        canvas = self.page.locator(f"{CELLS} canvas").nth(which)
        return canvas.evaluate("canvas => [canvas.width, canvas.height]")

    def colours(self, which=0):
        """`[rows, columns, 3]` of a heat map."""
        canvas = self.page.locator(f"{CELLS} canvas").nth(which)
        return canvas.evaluate(
            """canvas => {
              const {width, height} = canvas;
              const copy = document.createElement("canvas");
              Object.assign(copy, {width, height});
              const context = copy.getContext("2d", {willReadFrequently: true});
              context.drawImage(canvas, 0, 0);
              const {data} = context.getImageData(0, 0, width, height);
              const pixel = (i) => Array.from(data.slice(4 * i, 4 * i + 3));
              const row = (i) =>
                Array.from({length: width}, (_, j) => pixel(i * width + j));
              return Array.from({length: height}, (_, i) => row(i));
            }"""
        )

    def texts(self, selector):
        """Of elements, HTML or SVG."""
        return self.page.locator(f"{selector}:visible").evaluate_all(
            "all => all.map(x => x.innerText ?? x.textContent)"
        )

    def marked(self, selector):
        """Labels of what the crosshair is on."""
        return self.texts(f"{selector} .av-on")

    def read(self):
        """The line with the exact weight."""
        return " ".join(self.page.locator(".av-readout").inner_text().split())


def table(content):
    """Rows, columns and values of a CSV file."""
    head, *lines = csv.reader(io.StringIO(content.decode(), newline=""))
    values = np.array([[float(number) for number in line[1:]] for line in lines])
    return [line[0] for line in lines], head[1:], values
