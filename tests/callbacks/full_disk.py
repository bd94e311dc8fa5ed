"""Run by test_checkpoint.py in a process of its own, on a file system that gets full.

`python -m tests.callbacks.full_disk FOLDER`: trains four epochs; before the second one
the disk is filled, before the last one there is room again. Prints what it saw.
"""

import sys
import warnings
from pathlib import Path

import keras
import numpy as np

import keras_seqattn as ks
from tests.callbacks.translators import PAIRS, Scripted

UNITS = 100_000  # 0.4 MB of weights


class Fill(keras.callbacks.Callback):
    def __init__(self, folder):
        super().__init__()
        self.file = folder / "filling"

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 1:
            with open(self.file, "wb", buffering=0) as file:
                for size in (1 << 12, 1):
                    try:
                        while True:
                            file.write(b"x" * size)
                    except OSError:
                        pass
        if epoch == 3:
            self.file.unlink()


def main(folder):
    translator = Scripted(3, 5, 4, 6, 0, units=UNITS)
    callback = ks.callbacks.Validation(
        translator, PAIRS, ["exact_match"], folder=folder / "run", average=2
    )
    best = folder / "run" / "best.weights.h5"
    seen = []

    class See(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            fresh = Scripted(units=UNITS)
            ks.models.average_checkpoints(fresh.model, [best])
            seen.append(fresh.weight)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = np.ones((1, 1))
        translator.model.fit(
            *(x, x), epochs=4, verbose=0, callbacks=[Fill(folder), callback, See()]
        )
    texts = [str(w.message) for w in caught if w.category is RuntimeWarning]
    print("best on disk", seen)
    print("warnings", len(texts), "of", len(set(texts)))
    print(texts[0].replace(str(folder), ""))
    print("steps", [entry["step"] for entry in callback.record.entries])
    print("left", sorted(path.name for path in folder.rglob(".*")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
