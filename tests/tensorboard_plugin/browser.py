"""The tab in a real browser: Debian's Chromium, driven by Playwright."""

import csv
import functools
import io
import os
import shutil
import warnings
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

SCREENSHOTS = "KERAS_SEQATTN_SCREENSHOTS"  # a folder, for the gallery
SIZE = {"width": 1440, "height": 1000}
PATIENCE = 120_000  # ms; only against hanging: a loaded machine takes its time


def expect(locator):
    """Playwright's assertions, which wait."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
    return expect(locator)


@contextmanager
def chromium():
    """The browser. Where there is none, tests are skipped; where CI=true, they fail."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    program = shutil.which("chromium")
    if sync_playwright is None or program is None:
        missing(
            "The tab was not tried in a browser. Expected Chromium and Playwright, "
            f"received chromium={program}, "
            f"playwright={sync_playwright is not None}. Run "
            "tools/install_chromium.sh and pip install -e '.[test]'."
        )
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


class Tab:
    """TensorBoard, with our tab in front.

    Args:
        browser: from `chromium()`.
        server: `servers.Server`.
        link: what the address says, as {"run": ..., "step": ...}.
        dark: whether TensorBoard is asked to be dark.
        answers: by route, what the tab gets in the place of the server's answer.
    """

    def __init__(self, browser, server, link=None, dark=False, answers=None):
        self.server = server
        self.complaints, self.requests = [], []
        self.page = browser.new_page(viewport=SIZE)
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.root = f"http://127.0.0.1:{server.port}{server.prefix}/"
        for route, answer in (answers or {}).items():
            fulfill = functools.partial(_fulfill, answer)
            self.page.route(f"**/{route}?*", fulfill)
        query = "?darkMode=true" if dark else ""
        self.page.goto(f"{self.root}{query}#{fragment(link or {})}")
        self.frame = self.page.frame_locator("iframe[src*=seq_attention]")

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.page.close()
        if failure[0] is None:
            outside = [url for url in self.requests if not self._is_inside(url)]
            assert not self.complaints, self.complaints  # pytest explains no helper
            assert not outside, outside

    def _hear(self, message):
        # TensorBoard 2.21 itself looks for its fonts where no path prefix is.
        if message.type == "error" and "/font-roboto/" not in message.location["url"]:
            self.complaints.append(f"{message.text} {message.location}")

    def _is_inside(self, url):
        origin = f"http://127.0.0.1:{self.server.port}/"
        return url.startswith((origin, f"blob:{origin}", "data:"))

    # What is seen -----------------------------------------------------------------

    def find(self, selector):
        return self.frame.locator(selector)

    def wait_for_step(self, step):
        """Until the picture of this step stands there."""
        self.find(".tab-step b").get_by_text(str(step), exact=True).wait_for()
        self.find(".av-cells:visible").first.wait_for()

    def texts(self, selector):
        """What all these elements say, HTML or SVG."""
        return self.find(selector).evaluate_all(
            "all => all.map(x => x.innerText ?? x.textContent)"
        )

    def csv(self):
        """What is drawn, as the tab saves it: tables `(rows, columns, values)`."""
        text = self.save("CSV").decode()
        return [read_table(part) for part in text.split("\r\n\r\n")]

    def save(self, kind):
        """The bytes of a file."""
        with self.page.expect_download() as download:
            self.find(".av-save").get_by_role("button", name=kind).click()
        return Path(download.value.path()).read_bytes()

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
    """A deep link, as it stands behind the # of the address."""
    parts = [
        f"p.seq_attention.{key}={quote(str(value), safe='')}"
        for key, value in link.items()
    ]
    return "&".join(["seq_attention", *parts])


def read_table(text):
    head, *lines = csv.reader(io.StringIO(text))
    values = [[float(number) for number in line[1:]] for line in lines]
    return [line[0] for line in lines], head[1:], values
