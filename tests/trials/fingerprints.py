"""What must be equal between an uninterrupted run and one that was interrupted.

Arrays and parsed JSON are compared, not archives: those hold times.
"""

import hashlib
import io
import json
import re
import zipfile

import h5py
import numpy as np

from tests.stored import comparing
from tests.stored.packing import read_json

VARYING = ("seconds", "memory")  # of an entry in history.jsonl
FIXED = ("settings", "data", "versions")  # of run.json
CHECKPOINTS = ("best.weights.h5", "last-*.weights.h5")


def fingerprint(run):
    """A flat dict from what it is to its value, for a folder of a finished run."""
    content = read_json(run / "run.json")
    found = {
        "run.json": {name: content.get(name) for name in FIXED},
        "validation.json": read_json(run / "checkpoints" / "validation.json"),
        "files": dict.fromkeys(files(run), "is there"),
    }
    for number, entry in enumerate(history(run), 1):
        found[f"history.jsonl, line {number}"] = entry
    state = newest_state(run)
    paths = [p for name in CHECKPOINTS for p in (run / "checkpoints").glob(name)]
    for path in [*paths, *([state] if state else [])]:
        found |= {f"{path.name}: {k}": v for k, v in arrays(path).items()}
    for folder in (run / "translator", run / "text"):
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            name = str(path.relative_to(run))
            found |= {f"{name}: {k}": v for k, v in _content(path).items()}
    return found


def differences(one, other):
    """Between two fingerprints, in words; an empty list if they are equal.

    Of a file with several differing arrays, the first one stands for all.
    """
    found = {}
    for line in comparing.differences(other, one, tolerance=0):
        found.setdefault(line.split(":")[0], line)
    return [*found.values()]


def files(run):
    """Names of what a run keeps, except logs, locks and what is hidden."""
    names = (str(x.relative_to(run)) for x in run.rglob("*") if x.is_file())
    return sorted(n for n in names if not re.search(r"^logs/|\.lock$|(^|/)\.", n))


def leftovers(run):
    """Hidden and temporary names in the run or beside it; a lock may stay."""
    return [
        str(path.relative_to(run.parent))
        for path in run.parent.rglob("*")
        if re.search(r"^\.(?!.*\.lock$)|\.tmp$|-old$|~$", path.name)
    ]


def history(run):
    """Its entries without what differs from run to run."""
    lines = (run / "history.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    return [{k: v for k, v in e.items() if k not in VARYING} for e in entries]


def newest_state(run):
    states = (run / "checkpoints").glob("state-*.weights.h5")
    return max(states, key=lambda x: int(re.search(r"\d+", x.name)[0]), default=None)


def arrays(file):
    """Every array of an HDF5 file: name to shape, type and digest of its bytes."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            value = np.ascontiguousarray(item[()])
            digest = hashlib.sha256(value.tobytes()).hexdigest()
            found[name] = (value.shape, str(value.dtype), digest[:16])

    with h5py.File(file, "r") as opened:
        opened.visititems(visit)
    if not found:
        raise ValueError(f"{file} holds no arrays")
    return found


def whole(run):
    """Reads everything that a run keeps; returns what cannot be read, in words.

    Before there is a `run.json`, the texts may be half written.
    """
    bad, is_begun = [], (run / "run.json").exists()
    for path in sorted(p for p in run.rglob("*") if p.is_file()):
        kept = path.relative_to(run).parts
        is_hidden = any(part.startswith(".") for part in kept)
        if is_hidden or kept[0] == "logs" or (kept[0] == "text" and not is_begun):
            continue
        try:
            _content(path)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            bad.append(f"{path.relative_to(run)} is damaged: {error!r:.200}")
    manifest = run / "translator" / "manifest.json"
    if manifest.exists():
        for name, digest in read_json(manifest)["files"].items():
            path = run / "translator" / name
            if not path.exists():
                bad.append(f"translator/{name} is missing, manifest.json names it")
            elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                bad.append(f"translator/{name} has another checksum")
    return bad


def _content(path):
    """Of a file: name to value; times and digests of archives are left out."""
    if path.suffix == ".h5":
        return arrays(path)
    if path.suffix == ".keras":
        with zipfile.ZipFile(path) as archive:
            weights = arrays(io.BytesIO(archive.read("model.weights.h5")))
            config = json.loads(archive.read("config.json"))
        return {"config": _renumbered(config, {}), **weights}
    if path.name == "manifest.json":  # the digest of an archive holds its time
        content = read_json(path)
        content["files"] = sorted(content["files"])
        return {"content": content}
    if path.suffix == ".json":
        return {"content": read_json(path)}
    if path.suffix == ".jsonl":
        lines = path.read_text(encoding="utf-8").splitlines()
        return {"content": [json.loads(line) for line in lines]}
    return {"content": hashlib.sha256(path.read_bytes()).hexdigest()}


def _renumbered(config, numbers):
    """Keras names shared objects by their addresses; here they count from 0."""
    if isinstance(config, list):
        return [_renumbered(item, numbers) for item in config]
    if not isinstance(config, dict):
        return config
    found = {name: _renumbered(item, numbers) for name, item in config.items()}
    if "shared_object_id" in found:
        key = found["shared_object_id"]
        found["shared_object_id"] = numbers.setdefault(key, len(numbers))
    return found
