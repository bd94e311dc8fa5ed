"""Progress bars with the remaining time, or plain lines without a terminal."""

import contextlib
import sys
import time

try:
    import rich.console
    import rich.progress
except ImportError:
    rich = None

DELAY = 2.0  # seconds before a bar appears: short work needs none
LINE_INTERVAL = 10.0  # seconds between lines that are written to a file


def note(text=""):
    """Print a message to standard error; results go to standard output."""
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def bar(label, total):
    """Yield a function `update(done)` that shows a progress bar.

    The bar appears after two seconds.
    """
    display = _RichBar(label, total) if _use_rich() else _PlainBar(label, total)
    start = time.monotonic()

    def update(done):
        if time.monotonic() - start >= DELAY:
            display.update(done, time.monotonic() - start)

    try:
        yield update
    finally:
        display.close()


@contextlib.contextmanager
def working(label):
    """Show that work of unknown length is going on, and at its end how long it took."""
    start = time.monotonic()
    if _use_rich():
        with rich.console.Console(stderr=True).status(f"{label} ..."):
            yield
    else:
        yield
    seconds = time.monotonic() - start
    if seconds >= DELAY:
        note(f"{label}: {_clock(seconds)}")


class ProgressTranslator:
    """A translator that shows a progress bar.

    Args:
        translator: `Translator`.
        label: text before the bar.
    """

    def __init__(self, translator, label="validation"):
        self.translator, self.label = translator, label

    @property
    def model(self):
        return self.translator.model

    def translate(self, texts, batch_size=64):
        with bar(self.label, len(texts)) as update:
            return self.translator.translate(texts, batch_size, update)


class _RichBar:
    def __init__(self, label, total):
        parts = rich.progress
        self.progress = parts.Progress(
            parts.TextColumn("{task.description}"),
            parts.BarColumn(),
            parts.MofNCompleteColumn(),
            parts.TimeRemainingColumn(),
            console=rich.console.Console(stderr=True),
            transient=True,
        )
        self.task = self.progress.add_task(label, total=total)
        self.is_shown = False

    def update(self, done, seconds):
        if not self.is_shown:
            self.progress.start()
            self.is_shown = True
        self.progress.update(self.task, completed=done)

    def close(self):
        if self.is_shown:
            self.progress.stop()


class _PlainBar:
    def __init__(self, label, total):
        self.label, self.total = label, total
        self.is_terminal, self.last = sys.stderr.isatty(), None

    def update(self, done, seconds):
        if not self.is_terminal and seconds - (self.last or 0) < LINE_INTERVAL:
            return
        self.last = seconds
        left = seconds * (self.total - done) / max(done, 1)
        end = "\r" if self.is_terminal else "\n"
        line = f"{self.label}: {done} of {self.total}, {_clock(left)} left"
        print(f"{line:50}", end=end, file=sys.stderr, flush=True)

    def close(self):
        if self.is_terminal and self.last is not None:
            print(" " * 50, end="\r", file=sys.stderr, flush=True)


def _use_rich():
    return rich is not None and sys.stderr.isatty()


def _clock(seconds):
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02}"
