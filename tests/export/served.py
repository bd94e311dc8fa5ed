"""Asks exported folders in a process that knows nothing of this one."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SCRIPT = Path(__file__).with_name("new_process.py")


class Served(NamedTuple):
    """What came back."""

    answers: dict  # by folder, a list of dicts of arrays, or of errors
    wrong: dict  # by folder, wrong answers to many threads
    translated: tuple  # texts and scores of a saved translator, or None


def ask(folder, requests, at_once=0):
    """The answers of exported folders to requests, from one new process.

    A folder `translator` holds a saved one, which translates the first request's texts.

    Args:
        folder: that they are in.
        requests: by name, lists of pairs: a signature, a dict from inputs to texts.
        at_once: how many of each, the first ones, many threads ask again.
    """
    asked = {
        name: {"requests": listed, "at_once": at_once}
        for name, listed in requests.items()
    }
    Path(folder, "requests.pickle").write_bytes(pickle.dumps(asked))
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return Served(**pickle.loads(Path(folder, "answers.pickle").read_bytes()))


def text(value):
    """Lists of bytes, however deep, as strings."""
    if isinstance(value, bytes):
        return value.decode()
    return [text(each) for each in value]
