"""Runs of the command in this process, and whether two of them are equal."""

import json

from seqattn_command import main
from tests.trials.fingerprints import differences, fingerprint


def resume(folder, *more):
    return main(["train", "--resume", str(folder), *more])


def assert_same_run(one, other):
    """The same settings, history, weights, optimizer, validations and texts."""
    assert differences(_fingerprint(other), _fingerprint(one)) == []


def _fingerprint(run):
    """Without the configuration: Keras numbers the layers of one process."""
    found = fingerprint(run).items()
    return {name: value for name, value in found if not name.endswith(": config")}


def change_settings(folder, **values):
    path = folder / "run.json"
    content = json.loads(path.read_text())
    content["settings"].update(values)
    path.write_text(json.dumps(content))


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
