"""A logdir with good runs, and with everything that can be wrong in one."""

import json

import numpy as np
import tensorflow as tf

from tests.tensorboard_plugin import logs
from tests.tensorboard_plugin.pictures import HOSTILE

MANY = 520  # steps: more than are kept
PIECES = [*HOSTILE, "\ud800", ""]  # half a character, and none
TEXT = " ".join(PIECES)
TOKENS = [[piece, 0, len(TEXT)] for piece in PIECES]
TAGS = ["../../etc/passwd", "/absolute", "a?b=c&d=%2e%2e#e", "<b>bold</b>", "p 0/ü"]
ENTROPIES = {"p/000": {"entropy": 0.25}, "p/001": {"entropy": None}}
NAN, ZEROS = np.full((1, 3, 3), np.nan), logs.packed(np.zeros((1, 3, 3)))
LAST = {
    ("one/validation", "p/000"): 2,
    ("one/validation", "p/long"): MANY - 1,
    ("two/validation", "p/000"): 1,
    ("bad", "p/nan"): 2,
    **{("bad", f"p/{x}"): 0 for x in ("bfloat16", "foreign", "newer", "pieces")},
    ("cut", "p/000"): 4,
    **{("tags", tag): i for i, tag in enumerate(TAGS)},
}


def write_logs(folder):
    _write_good(folder)
    _write_bad(folder / "bad")
    _write_cut(folder / "cut")
    (folder / "garbage").mkdir()
    garbage = np.random.default_rng(0).bytes(1000)
    (folder / "garbage" / "events.out.tfevents.1.host").write_bytes(garbage)
    tags = logs.Log(folder / "tags")
    for step, tag in enumerate(TAGS):
        tags.picture(tag, step)
    tags.close()
    return folder


def _write_good(folder):
    one, two = (logs.Log(folder / name / "validation") for name in ("one", "two"))
    for step in range(3):
        one.picture("p/000", step)
        one.write("p/table", logs.TABLE, json.dumps(ENTROPIES), step)
    for step in range(2):
        two.picture("p/000", step, logs.weights_at(10 + step))
    for step in range(MANY):
        one.picture("p/long", step)
    with one.as_default():
        tf.summary.scalar("loss", 0.5, 0)  # another plugin's
    one.close()
    two.close()


def _write_bad(folder):
    bad = logs.Log(folder)
    bad.picture("p/nan", 0)
    bad.picture("p/nan", 1, NAN)
    metrics = {"entropy": float("nan"), "bleu": float("inf")}
    diverged = logs.header(logs.hypothesis(), metrics=metrics)
    bad.write("p/nan", logs.sentence(), [diverged, ZEROS], 2)
    bad.write("p/bfloat16", logs.sentence(), tf.zeros([3], "bfloat16"), 0)
    bad.write("p/foreign", b"\x08\x01\x12", logs.record(NAN), 0)
    bad.write("p/newer", logs.sentence(version=3), logs.record(NAN), 0)
    content = logs.sentence(source={"text": TEXT, "tokens": TOKENS}, reference=TEXT)
    shape = (1, len(PIECES), len(PIECES))
    about = {"text": TEXT, "tokens": TOKENS, "heads": [PIECES[0]]}
    values = [logs.header(logs.hypothesis(shape, **about))]
    values.append(logs.packed(np.zeros(shape)))
    bad.write("p/pieces", content, values, 0)
    bad.close()


def _write_cut(folder):
    """The last record lacks its end, as after a crash or a full disk."""
    cut = logs.Log(folder)
    for step in range(6):
        cut.picture("p/000", step)
    cut.close()
    [file] = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-40])
