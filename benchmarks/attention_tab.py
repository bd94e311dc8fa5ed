"""`python -m benchmarks.attention_tab`: a large log in the attention tab.

The log has 200 sentences, 100 steps, 30 x 30 tokens. The program measures its size, the
time from opening the tab to the first picture, and the time to the next picture while
the slider moves. Chromium must be on PATH. The limits are for a machine without other
work.
"""

import contextlib
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import tensorflow as tf
from playwright.sync_api import sync_playwright

from keras_seqattn.pictures.picture import hypothesis, picture
from keras_seqattn.tensorboard import record

SENTENCES, STEPS, TOKENS = 200, 100, 30
LIMITS = {  # what, unit, at most
    "log": ("MB", 40.0),
    "first picture": ("ms", 2000.0),
    "slider, median": ("ms", 100.0),
    "slider, worst": ("ms", 100.0),
}
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/")
# The time of the first cells, in ms since the frame began to load.
WATCH = """
const look = () => {
  if (!document.querySelector(".av-canvas")?.width) return requestAnimationFrame(look);
  window.firstPicture = performance.now();
};
look();
"""
# Each step once: from the event to after the picture was painted, in ms.
SLIDE = """async (slider) => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(null);
  }));
  const times = [];
  for (let i = 0; i <= slider.max; i += 1) {
    slider.value = i;
    const start = performance.now();
    slider.dispatchEvent(new Event("input"));
    await painted();
    times.push(performance.now() - start);
    await painted();
  }
  return times;
}"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_log(folder / "validation")
        size = sum(file.stat().st_size for file in folder.rglob("events.*"))
        with tensorboard(folder) as address:
            first, slides = look(address)
    measured = (size / 1e6, first, statistics.median(slides), max(slides))
    failed = False
    print(f"{SENTENCES} sentences, {STEPS} steps, {TOKENS} x {TOKENS} tokens")
    for (what, (unit, most)), value in zip(LIMITS.items(), measured, strict=True):
        verdict = "" if value <= most else "  too much"
        failed |= value > most
        print(f"  {what:15}{value:8.1f} {unit}, at most {most:6.0f} {unit}{verdict}")
    return int(failed)


def write_log(folder):
    """Write a log as `AttentionCallback` does: one event for each step."""
    random = np.random.default_rng(1409)
    writer = tf.summary.create_file_writer(str(folder))
    words = [sentence(random) for _ in range(SENTENCES)]
    for step in range(STEPS):
        summary, rows = tf.compat.v1.Summary(), {}
        for i, (source, target) in enumerate(words):
            tag = f"attention/{i:03d}"
            weights = alignment(random, sharpness=6.0 * step / STEPS)
            found = hypothesis(*target, weights, score=-30.0 / (step + 1))
            made = picture(*source, [found])
            content = record.content(made) if step == 0 else None
            record.add_value(summary, tag, record.record(made), content)
            rows[tag] = made["metrics"]
        content = record.table_content() if step == 0 else None
        record.add_value(summary, "attention/table", record.table(rows), content)
        with writer.as_default():
            data = summary.SerializeToString()
            tf.summary.experimental.write_raw_pb(data, step)
    writer.close()


def sentence(random):
    """Return source and target, each `(text, tokens)` of random words."""
    sides = []
    for _ in range(2):
        words = [
            "".join(random.choice([*"abcdefghijklmnopqrstuvwxyz"], size))
            for size in random.integers(2, 8, TOKENS - 1)
        ]
        ends = np.cumsum([len(word) + 1 for word in words]).tolist()
        text = " ".join(words)
        spans = zip(words, ends, strict=True)
        tokens = [[f"▁{word}", end - len(word) - 1, end - 1] for word, end in spans]
        sides.append((text, [*tokens, ["</s>", len(text), len(text)]]))
    return sides


def alignment(random, sharpness):
    """Return random weights; the sharper, the closer to the diagonal."""
    scores = random.normal(size=(TOKENS, TOKENS)) + sharpness * np.eye(TOKENS)
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True)


@contextlib.contextmanager
def tensorboard(folder):
    """Start TensorBoard; yield its address when it has read everything."""
    command = [sys.executable, "-m", "tensorboard.main", f"--logdir={folder}"]
    process = subprocess.Popen(
        [*command, "--host=127.0.0.1", "--port=0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        found = None
        while found is None:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError("TensorBoard ended. Start it by hand to see why.")
            found = ADDRESS.search(line)
        time.sleep(10)  # it reads in the background
        yield found[0]
    finally:
        process.terminate()
        process.wait()


def look(address):
    """Return the milliseconds until the first picture, and those of each step."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.add_init_script(WATCH)
        page.goto(f"{address}#seq_attention")
        frame = page.frame_locator("iframe[src*=seq_attention]")
        frame.locator(".list-number").nth(SENTENCES - 1).wait_for()  # the table, too
        first = frame.locator("html").evaluate("() => window.firstPicture")
        slides = frame.locator(".tab-track input").evaluate(SLIDE)
        browser.close()
    return first, slides


if __name__ == "__main__":
    sys.exit(main())
