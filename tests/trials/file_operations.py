"""Builds the library that counts and disturbs file operations, and reads its log."""

import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).with_name("file_operations.c")
NEED_ROOM = {*"open fopen write pwrite writev fwrite mkdir sendfile".split()}


class Operation(NamedTuple):
    """Number, kind, and path below the folder."""

    number: int
    kind: str
    path: str

    @property
    def pattern(self):
        """The path without numbers and drawn names."""
        path = re.sub(r"events\.out\.tfevents\..*", "events", self.path)
        path = re.sub(r"(/\.[\w.]+)-[a-z0-9_]{8}(?=/|-|$)", r"\1-*", path)
        return re.sub(r"\d+", "#", path)

    @property
    def what(self):
        return self.kind, self.pattern

    def __str__(self):
        return f"operation {self.number}, {self.kind} {self.path}"


def build(folder):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("needs a C compiler: gcc or cc was not found")
    library = folder / "file_operations.so"
    command = [compiler, *"-shared -fPIC -O2 -Wall -U_FORTIFY_SOURCE -o".split()]
    subprocess.run([*command, str(library), str(SOURCE), "-ldl"], check=True)
    return library


def environment(library, folder, log, **what):
    """For a process whose operations below the folder are counted, in a log.

    `kill`, `kill_after` or `full`: the number of an operation.
    """
    what = {"folder": folder, "log": log, **what}
    named = {f"TRIAL_{name.upper()}": str(value) for name, value in what.items()}
    return {"LD_PRELOAD": str(library), **named}


def read(log):
    lines = [line.split("\t", 2) for line in log.read_text().splitlines()]
    return [Operation(int(number), kind, path) for number, kind, path in lines]


def choose(operations, number, key):
    """So many of them: each key once, the rest spread evenly; more if keys are many."""
    draw = random.Random(1409)
    groups = {}
    for operation in operations:
        groups.setdefault(key(operation), []).append(operation)
    chosen = {draw.choice(group) for group in groups.values()}
    rest = [operation for operation in operations if operation not in chosen]
    missing = max(0, min(number - len(chosen), len(rest)))
    chosen |= {rest[i * len(rest) // missing] for i in range(missing)}
    return sorted(chosen)
