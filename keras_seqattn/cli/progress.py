"""Progress bars with the time left; plain lines where there is no terminal."""

import contextlib
import sys
import time

PATIENCE = 2.0  # seconds until somebody wants to know
PLAIN_EVERY = 10.0  # seconds between lines that go to a file


def note(text=""):
    """Something to know, beside the results."""
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def bar(label, total):
    """Gives a function of the number that is done.

    It is shown after two seconds only: what is quick needs no bar.
    """
    shown = _Rich(label, total) if _has_rich() else _Plain(label, total)
    start = time.monotonic()

    def update(done):
        if time.monotonic() - start >= PATIENCE:
            shown.update(done, time.monotonic() - start)

    try:
        yield update
    finally:
        shown.close()


@contextlib.contextmanager
def working(label):
    """Something that takes its time and does not say how long."""
    start = time.monotonic()
    if _has_rich():
        import rich.console

        with rich.console.Console(stderr=True).status(f"{label} ..."):
            yield
    else:
        yield
    seconds = time.monotonic() - start
    if seconds >= PATIENCE:
        note(f"{label}: {_clock(seconds)}")


class Shown:
    """A translator that shows how far it is.

    Args:
        translator: `Translator`.
        label: of the bar.
    """

    def __init__(self, translator, label="validation"):
        self.translator, self.label = translator, label

    @property
    def model(self):
        return self.translator.model

    def translate(self, texts, batch_size=64):
        with bar(self.label, len(texts)) as update:
            return self.translator.translate(texts, batch_size, update)


class _Rich:
    def __init__(self, label, total):
        import rich.console
        import rich.progress as parts

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


class _Plain:
    def __init__(self, label, total):
        self.label, self.total = label, total
        self.is_terminal, self.last = sys.stderr.isatty(), None

    def update(self, done, seconds):
        if not self.is_terminal and seconds - (self.last or 0) < PLAIN_EVERY:
            return
        self.last = seconds
        left = seconds * (self.total - done) / max(done, 1)
        end = "\r" if self.is_terminal else "\n"
        line = f"{self.label}: {done} of {self.total}, {_clock(left)} left"
        print(f"{line:50}", end=end, file=sys.stderr, flush=True)

    def close(self):
        if self.is_terminal and self.last is not None:
            print(" " * 50, end="\r", file=sys.stderr, flush=True)


def _has_rich():
    if not sys.stderr.isatty():
        return False
    try:
        import rich  # noqa: F401
    except ImportError:
        return False
    return True


def _clock(seconds):
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02}"
