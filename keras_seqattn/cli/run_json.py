"""`run.json`: the command, settings, versions, machine and data of a run.

The file may come from another person, so `read_run` checks every field.
"""

import dataclasses
import os
import platform
import re
import sys
import warnings
from pathlib import Path

from keras_seqattn import manifest
from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error, four_parts
from keras_seqattn.safe_reading import JSON, parse_json, read_bytes
from seqattn_command.settings import Settings, names

SPLITS = ("train", "validation")
REPORT = {"total": int, "dropped": dict, "examples": dict}  # fields of a `Report`


def read_run(path):
    """Return the content of a `run.json`, checked."""
    try:
        content = parse_json(read_bytes("seqattn", path, JSON))
        _check(content)
        content["settings"] = _of_today(content["settings"])
        settings_from_dict(content["settings"])
        return content
    except (FileNotFoundError, NotADirectoryError):
        received = f"{str(path)!r}, which does not exist"
    except KeyError as error:
        received = f"{str(path)!r} without {error}"
    except (ValueError, TypeError) as error:
        received = f"{str(path)!r}: {str(error).rstrip('.')}"
    raise four_part_error(
        "seqattn found no settings of a run",
        "a run.json that seqattn train has written",
        received,
        "Check the path: the file is in the folder named by --out",
    )


def _check(content):
    """Check that the fields exist and have their types."""
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
    _check_type("left_out", content.get("left_out", {}), dict)
    for report in content.get("left_out", {}).values():
        _check_report(report)


def _check_report(value):
    """Check that a dict has the fields of a `Report`."""
    _check_type("left_out", value, dict)
    for name, kind in REPORT.items():
        _check_type(name, value[name], kind)
    for name, kind in (("dropped", int), ("examples", list)):
        for item in value[name].values():
            _check_type(name, item, kind)


def _check_type(name, value, kind):
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {type(value).__name__}, not {kind.__name__}")


def _of_today(values):
    """Return settings as they are named today, of a run that is older."""
    if "encoding_errors" not in values:
        return values
    values = dict(values)
    skips = values.pop("encoding_errors") == "skip"
    values["row_errors"] = "skip-all" if skips else "skip"
    given = [name for name, value in values.items() if value is not None]
    has_own = {"validation_pairs", "validation_source"} & {*given}
    if has_own or not {"pairs", "source"} & {*given}:
        values["validation_size"] = None  # it was 1000, which had no effect
    return values


def settings_from_dict(values):
    """Return the `Settings` of a `run.json`; unknown names are an error."""
    for name in values:
        check_choice("train", "setting", name, names())
    for field in dataclasses.fields(Settings):
        _check_setting(field, values.get(field.name, field.default))
    return Settings(**values)


def _check_setting(field, value):
    """Check the type of a value; argparse has not checked what a file contains."""
    choices = field.metadata["option"].get("choices")
    if value is None and field.default is None or value is dataclasses.MISSING:
        return
    if choices and value not in choices:
        raise _unusable(field, value, f"one of {', '.join(choices)}")
    fits, expected = _TYPES[field.type]
    if not fits(value):
        raise _unusable(field, value, expected)


def _unusable(field, value, expected):
    return four_part_error(
        f"train got an unusable value of the setting {field.name}",
        expected,
        repr(value)[:60],
        "Write it as seqattn train writes it into run.json",
    )


def _is_plain(value):
    return value is None or type(value) in (str, bool, int, float)


def _is_plain_list(value):
    return isinstance(value, list) and all(map(_is_plain, value))


def _is_plain_dict(value):
    return isinstance(value, dict) and all(
        type(name) is str and (_is_plain(item) or _is_plain_list(item))
        for name, item in value.items()
    )


_TYPES = {
    str: (lambda value: type(value) is str, "a string"),
    bool: (lambda value: type(value) is bool, "true or false"),
    int: (lambda value: type(value) is int, "an integer"),
    float: (lambda value: type(value) in (int, float), "a number"),
    list: (_is_plain_list, "a list of strings or numbers"),
    dict: (_is_plain_dict, "an object with strings, numbers or lists of them"),
}


def versions():
    """Return the versions of the packages that compute, and of Python."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"python": python, **manifest.versions()}


def warn_of_versions(old):
    """Warn if the versions have changed: other versions compute other numbers."""
    new = versions()
    changed = [f"{n} {old.get(n)} (now {new[n]})" for n in new if old.get(n) != new[n]]
    if changed:
        message = four_parts(
            "train continues with other versions than those the run began with",
            "the versions in run.json",
            ", ".join(changed),
            "Install the old versions if the numbers must be the same",
        )
        warnings.warn(message, stacklevel=2)


def machine():
    """Return the processor and the number of cores that this process may use."""
    is_linux = sys.platform.startswith("linux")
    cores = len(os.sched_getaffinity(0)) if is_linux else os.cpu_count()
    return f"{_processor(is_linux)}, {cores} core{'s' if cores > 1 else ''}"


def _processor(is_linux):
    if is_linux:
        match = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
        if match:
            return match[1].strip()
    return platform.processor() or platform.machine()
