"""Counts the kernels of each loop iteration in code that XLA has compiled."""

import re
from typing import NamedTuple

# Names for a value that is there: nothing is launched for them.
NAMES = frozenset("parameter get-tuple-element tuple bitcast constant".split())
COMPUTATION = re.compile(r"^(?:ENTRY )?%(\S+) .*\{$")
INSTRUCTION = re.compile(r"^  (?:ROOT )?%\S+ = (\(.*?\)|\S+) ([\w-]+)\(")
COMMENT = re.compile(r"/\*.*?\*/")


class Turn(NamedTuple):
    """The instructions in one iteration of a loop."""

    kernels: int  # instructions that compute more than a counter
    writes: int  # those of them that write a result into the buffer of all iterations


def turns(hlo):
    """Return a `Turn` for each loop of the entry, in the order of the text.

    Args:
        hlo: str, an optimised module.
    """
    computations = dict(_computations(hlo))
    [entry] = re.findall(r"^ENTRY %(\S+) ", hlo, re.MULTILINE)
    return [
        _turn(computations, re.search(r"body=%([^\s,]+)", line).group(1))
        for kind, _, line in _called(computations, entry)
        if kind == "while"
    ]


def _called(computations, name):
    """Yield the instructions of a computation, with those of computations it calls."""
    for kind, shape, line in computations[name]:
        if kind == "call":
            callee = re.search(r"to_apply=%([^\s,]+)", line).group(1)
            yield from _called(computations, callee)
        else:
            yield kind, shape, line


def _computations(hlo):
    """Yield the name and the instructions `(kind, shape, line)` of each."""
    name, found = None, []
    for line in COMMENT.sub("", hlo).splitlines():
        if begins := COMPUTATION.match(line):
            name, found = begins.group(1), []
        elif line.startswith("}"):
            yield name, found
        elif instruction := INSTRUCTION.match(line):
            shape, kind = instruction.groups()
            found.append((kind, shape, line))


def _turn(computations, body):
    kernels = [
        (kind, line)
        for kind, shape, line in _called(computations, body)
        if kind not in NAMES and not re.match(r"\w+\[\]", shape)
    ]
    return Turn(len(kernels), sum(_writes(computations, *kernel) for kernel in kernels))


def _writes(computations, kind, line):
    if kind == "fusion":
        inside = computations[re.search(r"calls=%([^\s,]+)", line).group(1)]
        return any(kind == "dynamic-update-slice" for kind, *_ in inside)
    return kind == "dynamic-update-slice"
