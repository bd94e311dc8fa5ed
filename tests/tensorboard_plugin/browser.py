"""The real `tensorboard`, and its tab in Debian's Chromium, driven by Playwright."""

import csv
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from tests.serving.client import Client, until

SCREENSHOTS = "KERAS_SEQATTN_SCREENSHOTS"  # a folder, for the gallery
SIZE = {"width": 1440, "height": 1000}
FRAME = "iframe[src*=seq_attention]"
RELOAD = """(frame, hash) => {
  const inside = frame.contentWindow;
  // The tab may be about to write its old state into the address.
  for (let i = inside.setTimeout(String); i > 0; i--) inside.clearTimeout(i);
  history.replaceState(history.state, "", hash);
  inside.location.reload();
}"""
PATIENCE = 120_000  # ms; only against hanging: a loaded machine takes its time


def expect(locator):
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
    return expect(locator)


@contextmanager
def chromium():
    """The browser. Where there is none, tests are skipped; where CI=true, they fail."""
    program = shutil.which("chromium")
    has_playwright = importlib.util.find_spec("playwright") is not None
    if program is None or not has_playwright:
        missing(
            "The tab was not tried in a browser. Expected Chromium and Playwright, "
            f"received chromium={program}, playwright={has_playwright}. Run "
            "tools/install_chromium.sh and pip install -e '.[test]'."
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"], timeout=PATIENCE
        )
        try:
            yield browser
        finally:
            browser.close()


def missing(message):
    """Print a message where everybody sees it, in CI and in a terminal."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(message)
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # pytest lists warnings, even of skipped tests
        warnings.warn(message, stacklevel=2)
    pytest.skip(message)


class Page:
    """Hears what goes wrong; the page may ask addresses that begin with `inside`."""

    def __init__(self, page, *inside):
        self.page, self.inside = page, (*inside, "data:")
        self.complaints, self.requests = [], []
        page.set_default_timeout(PATIENCE)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.page.close()
        if failure[0] is None:
            self.check()

    def check(self):
        outside = [url for url in self.requests if not url.startswith(self.inside)]
        assert not self.complaints, self.complaints  # pytest explains no helper
        assert not outside, outside

    def _hear(self, message):
        # TensorBoard 2.21 itself looks for its fonts where no path prefix is.
        if "/font-roboto/" not in message.location["url"] and self.is_bad(message.type):
            self.complaints.append(f"{message.text} {message.location}")

    def is_bad(self, kind):
        return True

    def find(self, selector):
        return self.page.locator(selector)

    def texts(self, selector):
        """What all these elements say, HTML or SVG."""
        return self.find(f"{selector}:visible").evaluate_all(
            "all => all.map(x => x.innerText ?? x.textContent)"
        )

    def save(self, kind):
        """The bytes of a file, which the viewer calls `saved_as`."""
        with self.page.expect_download() as download:
            self.find(".av-save").get_by_role("button", name=kind).click()
        self.saved_as = download.value.suggested_filename
        return Path(download.value.path()).read_bytes()

    def csv(self):
        """What is drawn, as the viewer saves it: tables `(rows, columns, values)`."""
        return [table(part) for part in self.save("CSV").decode().split("\r\n\r\n")]


class Tab(Page):
    """TensorBoard, with our tab in front.

    Args:
        browser: from `chromium()`.
        server: `servers.Server`.
        dark: whether TensorBoard starts with the dark theme.
        **link: what the address says, as run="one" and step=3.
    """

    def __init__(self, browser, server, dark=False, **link):
        origin = f"http://127.0.0.1:{server.port}"
        page = browser.new_page(viewport=SIZE)
        super().__init__(page, f"{origin}/", f"blob:{origin}/")
        query = "?darkMode=true" if dark else ""
        page.goto(f"{origin}{server.prefix}/{query}#{fragment(link)}")
        self.frame = page.frame_locator(FRAME)

    def open(self, **link):
        """Begin anew at a link: the tab loads again, TensorBoard around it stays."""
        self.complaints.clear()
        self.page.set_viewport_size(SIZE)
        self.page.mouse.move(2, 2)
        with self.page.expect_event("framenavigated", lambda frame: frame.parent_frame):
            self.page.locator(FRAME).evaluate(RELOAD, f"#{fragment(link)}")

    @contextmanager
    def answering(self, answers):
        """Begin anew with these answers, by route, in the place of the server's."""
        for route, answer in answers.items():
            self.page.route(f"**/{route}?*", partial(_fulfill, answer))
        self.open()
        yield
        self.page.unroute_all()

    def is_bad(self, kind):
        return kind == "error"

    def find(self, selector):
        return self.frame.locator(selector)

    def wait_for_step(self, step):
        self.find(".tab-step b").get_by_text(str(step), exact=True).wait_for()
        self.find(".av-cells:visible").first.wait_for()

    def screenshot(self, name, folder):
        """Kept where KERAS_SEQATTN_SCREENSHOTS says, else with pytest's own files."""
        folder = Path(os.environ.get(SCREENSHOTS, folder))
        folder.mkdir(parents=True, exist_ok=True)
        height = self.find(".tab-main").evaluate(
            "main => [...main.children].reduce((sum, x) => sum + x.offsetHeight, 0)"
        )
        # Nothing is cut off: TensorBoard's bar and ours are above.
        self.page.set_viewport_size({**SIZE, "height": max(height + 116, 560)})
        self.page.mouse.move(2, 2)
        self.find(".tab-main").evaluate("main => main.scrollTo(0, 0)")
        self.page.screenshot(path=folder / f"{name}.png")


def _fulfill(answer, route):
    route.fulfill(json=answer)


def fragment(link):
    parts = [f"{key}={quote(str(value), safe='')}" for key, value in link.items()]
    return "&p.seq_attention.".join(["seq_attention", *parts])


def table(text):
    head, *lines = csv.reader(io.StringIO(text, newline=""))
    values = np.array([[float(number) for number in line[1:]] for line in lines])
    return [line[0] for line in lines], head[1:], values


DEADLINE = 120  # seconds; it takes two or three
_ADDRESS = re.compile(r"TensorBoard \S+ at http://127\.0\.0\.1:(\d+)(\S*)/ ")


class Server:
    """Runs while the `with` lasts, and prints into a file."""

    def __init__(self, logdir, printed, flags=()):
        self.printed = printed
        command = [sys.executable, "-m", "tensorboard.main", f"--logdir={logdir}"]
        with open(printed, "wb") as stream:
            self.process = subprocess.Popen(
                [*command, "--host=127.0.0.1", "--port=0", *flags],
                stdout=stream,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self):
        try:
            found = self.until(lambda: _ADDRESS.search(self.text()))
        except BaseException:
            self.__exit__()
            raise
        self.port, self.prefix = int(found[1]), found[2]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(DEADLINE)

    def text(self):
        return self.printed.read_text(encoding="utf-8", errors="replace")

    def until(self, condition):
        def found():
            assert self.process.poll() is None, self.text()
            return condition()

        return until(found, DEADLINE)

    def get(self, path):
        return Client(self.port).request("GET", self.prefix + path)

    def ask(self, route, **query):
        query = f"?{urllib.parse.urlencode(query)}" if query else ""
        return self.get(f"/data/plugin/seq_attention/{route}{query}")
