"""`run.json`: what a run was made with.

The file may come from another person, so `read_run` checks every field.
"""

import sys
import warnings

from keras_seqattn import manifest
from keras_seqattn.cli.settings import Settings
from keras_seqattn.errors import four_part_error
from keras_seqattn.safe_reading import JSON, parse_json, read_bytes

SPLITS = ("train", "validation")


def read_run(path):
    """A `run.json`, checked."""
    try:
        content = parse_json(read_bytes("seqattn", path, JSON))
        _check(content)
        Settings.of(content["settings"])
        return content
    except FileNotFoundError:
        received = f"{str(path)!r}, which does not exist"
    except KeyError as error:
        received = f"{str(path)!r} without {error}"
    except (ValueError, TypeError) as error:
        received = f"{str(path)!r}: {str(error).rstrip('.')}"
    raise four_part_error(
        "seqattn found no settings of a run",
        "a run.json that seqattn train has written",
        received,
        "Check the path: it is in the folder named by --out",
    )


def versions():
    """Of what computes; a repeated run wants the same."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"python": python, **manifest.versions()}


def warn_of_versions(then):
    """Other versions compute other numbers."""
    now = versions()
    changed = [
        f"{n} {then.get(n)} (now {now[n]})" for n in now if then.get(n) != now[n]
    ]
    if changed:
        warnings.warn(
            "train goes on with other versions than the run began with. Expected "
            f"those in run.json, received another {', '.join(changed)}. Install the "
            "old ones if the numbers must be the same.",
            stacklevel=2,
        )


def _check(content):
    """That the fields are there, and are what they are later used as."""
    _check_type("the file", content, dict)
    _check_type("command", content["command"], str)
    for name in ("settings", "versions", "data"):
        _check_type(name, content[name], dict)
    for name in SPLITS:
        about = content["data"][name]
        _check_type(name, about, dict)
        _check_type("pairs", about["pairs"], int)
        _check_type("sha256", about["sha256"], str)
    _check_type("continued", content.get("continued", []), list)


def _check_type(name, value, kind):
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {type(value).__name__}, not {kind.__name__}")
