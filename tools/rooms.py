"""How many files of the library a sentence passes.

    python -m tools.rooms                 # the five walks, with their numbers
    python -m tools.rooms translation     # one walk, with its files

A file counts if one of its functions is called during the walk. What happens before the
walk (imports, building, loading, warming up) does not count. Files of checks do not
count either, because a check does not change its input.

- `step`: tracing one training step of `bahdanau2015`, with `compile(loss="auto")`;
- `translation`: a new `Translator` translates its first text;
- `request`: `seqattn serve` answers one POST of one text; files of `serving` only;
- `train`: `seqattn train` of two epochs, after its options have been read; files of the
  command line only;
- `product`: from the line of `BahdanauCell.step` to the multiplication `U h`, in the
  fast loop of a training step.
"""

import argparse
import collections
import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "keras_seqattn"
COMMAND = (PACKAGE / "cli", ROOT / "seqattn_command")
FOLDERS = {  # of each walk
    "step": (PACKAGE,),
    "translation": (PACKAGE,),
    "request": (PACKAGE / "serving",),
    "train": COMMAND,
    "product": (PACKAGE,),
}


class Recorder:
    """Counts the calls in each file while it is on, in all threads."""

    def __init__(self):
        self.calls, self.is_on = collections.Counter(), False
        sys.setprofile(self._called)
        threading.setprofile(self._called)

    def _called(self, frame, event, argument):
        if self.is_on and event == "call" and frame.f_code.co_name != "<module>":
            self.calls[frame.f_code.co_filename] += 1

    @contextlib.contextmanager
    def on(self):
        """Record inside of the block."""
        self.is_on = True
        try:
            yield
        finally:
            self.is_on = False

    def files(self, folders):
        """Return the recorded files in some folders, most calls first."""
        names = [name for name, _ in self.calls.most_common()]
        return [
            Path(name).relative_to(ROOT).as_posix()
            for name in names
            if any(Path(name).is_relative_to(folder) for folder in folders)
            and "checks" not in Path(name).stem
        ]


def step(recorder):
    """Trace a training step."""
    model, pairs = translator().model, [[4, 5, 2], [6, 4, 2]]
    model.compile("adam", loss="auto")
    inputs = {"source": pairs, "target": [[1, 4, 5], [1, 6, 4]]}
    tensors = arrays(inputs)
    model(tensors)  # builds it
    with recorder.on():
        model.train_on_batch(tensors, arrays(pairs))


def product(recorder):
    """Trace a training step, and record the files on the way to `U h`."""
    from keras_seqattn.ops.fast.passes import ForwardTrace

    multiply, cell = ForwardTrace.product, f"{PACKAGE}/layers/bahdanau_cell.py"

    def product_of_step(self, *factors):
        frames = traceback.extract_stack()
        if any(frame.name == "_recurrent_product" for frame in frames):
            files = [frame.filename for frame in frames]
            recorder.calls.update(files[files.index(cell) :])
        return multiply(self, *factors)

    ForwardTrace.product = product_of_step
    recorder.on = contextlib.nullcontext  # only these files count
    step(recorder)


def translation(recorder):
    """Translate a text."""
    translate = translator()
    with recorder.on():  # the first one, whose steps are traced
        translate("abc")


def request(recorder):
    """Answer a request; the client is a thread, the server the main one."""
    from keras_seqattn.serving import Limits, serve

    address = Address()
    log = logging.getLogger("keras_seqattn.serving")
    log.addHandler(address)
    log.setLevel(logging.INFO)
    client = threading.Thread(target=ask, args=(address, recorder), daemon=True)
    client.start()
    with tempfile.TemporaryDirectory() as folder:
        translator().export(folder, version=1)
        serve("m", {1: f"{folder}/1"}, ("127.0.0.1", 0), Limits())
    client.join()


class Address(logging.Handler):
    """Finds in the log where the server listens."""

    def __init__(self):
        super().__init__()
        self.is_known, self.url = threading.Event(), None

    def emit(self, record):
        for word in record.getMessage().split():
            if word.startswith("http://"):
                self.url = f"{word}:predict"
                self.is_known.set()


def ask(address, recorder):
    """Ask twice, and record the second time; then stop the server."""
    try:
        address.is_known.wait(300)
        post(address.url)
        with recorder.on():
            post(address.url)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)


def post(url):
    """POST one text and return the answer."""
    body = json.dumps({"instances": ["abba"]}).encode()
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return answer.read()


def train(recorder):
    """Train for two epochs with the command."""
    from seqattn_command.command import load_verb
    from seqattn_command.parser import parse

    with tempfile.TemporaryDirectory() as folder:
        words = (
            f"train --out {folder}/run --epochs 2 --preset small --task reverse "
            "--task-option train=60 validation=10 test=12 --set units=8 embedding=8 "
            "attention_units=8 maxout=4 --batch-size 20"
        ).split()
        options = parse(words)  # which passes the options of all verbs
        options.command = words
        verb = load_verb(options.verb)
        with recorder.on():
            code = verb.run(options)
    if code:
        raise SystemExit(code)


def translator():
    """Return a small translator of letters, without training."""
    import keras_seqattn as ks
    from keras_seqattn import zoo

    letters = ks.text.Characters.learn(["abc"])
    size = letters.vocabulary_size
    model = zoo.bahdanau2015("small", source_vocabulary=size, target_vocabulary=size)
    return ks.Translator(model, letters, letters, ks.BeamSearch(2), max_length=7)


def arrays(values):
    """Return the same values with NumPy arrays in place of lists."""
    import numpy as np

    if isinstance(values, dict):
        return {name: np.array(x) for name, x in values.items()}
    return np.array(values)


WALKS = {walk.__name__: walk for walk in (step, translation, request, train, product)}


def main():
    """Walk, and print the number of files, or their names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("walk", nargs="?", choices=sorted(WALKS))
    name = parser.parse_args().walk
    if name is None:  # each walk in its own process: no walk prepares another one
        for name in WALKS:
            command = [sys.executable, "-m", "tools.rooms", name]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            print(f"{name:12} {len(done.stdout.splitlines()):3} files", flush=True)
        return
    recorder = Recorder()
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        WALKS[name](recorder)
    sys.setprofile(None)
    print(*recorder.files(FOLDERS[name]), sep="\n")


if __name__ == "__main__":
    main()
