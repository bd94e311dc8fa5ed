"""What `keras_seqattn.tensorboard` writes is what this package reads."""

import base64

import numpy as np

from keras_seqattn.metrics.alignment_error import GoldLinks
from keras_seqattn.pictures.picture import hypothesis, picture
from keras_seqattn.tensorboard import record
from tests.tensorboard_plugin.fakes import Site, series
from tests.tensorboard_plugin.logs import weights_at

SOURCE = [["ein", 0, 3], ["▁Haus", 3, 8], ["</s>", 8, 8]]
TARGET = [["▁a", 0, 1], ["▁house", 1, 7], ["</s>", 7, 7]]


def a_picture(step):
    arrays = weights_at(step, (2, 3, 3)), weights_at(step + 10)
    free = hypothesis("a house", TARGET, arrays[0], score=-1.25, heads=["a", "b"])
    said = hypothesis("a house", TARGET, arrays[1], kind="forced", centre=[0, 1, 2])
    gold = GoldLinks(sure={(0, 0)}, possible={(0, 0), (1, 1)})
    return picture("ein Haus", SOURCE, [free, said], "a house", gold)


def test_series():
    pictures = [a_picture(step) for step in range(2)]
    steps = [(step, record.record(made)) for step, made in enumerate(pictures)]
    runs = {"r": {"p/0": series(*steps, content=record.content(pictures[0]))}}
    answer = Site(runs).ask("series", run="r", tag="p/0").json
    for made, step in zip(pictures, answer.pop("steps"), strict=True):
        del step["step"], step["wall_time"], made["version"]
        for written, read in zip(made["hypotheses"], step["hypotheses"], strict=True):
            raw = base64.b64decode(read.pop("weights"))
            weights = np.frombuffer(raw, "<f2").reshape(read["shape"])
            np.testing.assert_allclose(weights, written.pop("weights"), atol=2**-12)
        assert {**answer, **step} == made


def test_table():
    rows = {f"p/{step}": a_picture(step)["metrics"] for step in range(2)}
    made = series((0, record.table(rows)), content=record.table_content())
    assert Site({"r": {"t": made}}).step("table", tag="t")["rows"] == rows


def test_model_that_diverged():
    nan = np.full((1, 3, 3), np.nan)
    made = picture("ein Haus", SOURCE, [hypothesis("a house", TARGET, nan)])
    nothing = picture("ein Haus", SOURCE, [])
    steps = series(
        *enumerate(map(record.record, (made, nothing))), content=record.content(made)
    )
    answer = Site({"r": {"p/0": steps}}).ask("series", run="r", tag="p/0").json
    errors = [step["error"] for step in answer["steps"]]
    assert all("The model may have diverged" in error for error in errors)
