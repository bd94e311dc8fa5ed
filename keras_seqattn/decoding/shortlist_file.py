"""Arrays of integers from a NumPy .npz file that may be untrusted."""

import io
import math
import os
import zipfile

import numpy as np

from keras_seqattn.errors import four_part_error
from keras_seqattn.safe_reading import in_one_line, open_regular

OWNER = "Shortlist.load"
# Bytes of arrays by rank; a table of 100 000 tokens with 100 each has 40 million.
_MOST = {0: 2**10, 1: 16 * 2**20, 2: 128 * 2**20}


def read_arrays(path, ranks, numbers):
    """Arrays and numbers by name.

    `numpy.load` would believe what the file says about sizes, and allocate as much.

    Args:
        path: of the file.
        ranks: dict from the names of the arrays to their numbers of axes.
        numbers: names of what is a single integer.
    """
    ranks = {**ranks, **dict.fromkeys(numbers, 0)}
    with open_regular(OWNER, path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                found = {name: _array(archive, name, n) for name, n in ranks.items()}
            wrong, cause = [x for x in found.values() if isinstance(x, str)], None
        except Exception as error:  # of whatever kind: the file may hold anything
            wrong, cause = [in_one_line(error)], error
    if wrong:
        raise four_part_error(
            f"{OWNER} cannot read {os.fspath(path)}",
            f"integer arrays {list(ranks)} of a saved Shortlist",
            f"something else ({wrong[0]})",
            "Make one with Shortlist.learn, or copy the file again",
        ) from cause
    return {**found, **{name: int(found[name]) for name in numbers}}


def _array(archive, name, rank):
    """One array; a str says why it is none, or that it declares more than it holds."""
    with archive.open(f"{name}.npy") as member:
        # `read` unpacks no more than it is asked for, whatever the archive declares.
        content = io.BytesIO(member.read(_MOST[rank] + 1))
    if len(content.getbuffer()) > _MOST[rank]:
        return f"{name} has more than {_MOST[rank]} bytes"
    version = np.lib.format.read_magic(content)
    if version != (1, 0):
        return f"{name} is in version {version} of the format"
    shape, in_columns, dtype = np.lib.format.read_array_header_1_0(content)
    if dtype.kind not in "iu" or len(shape) != rank:
        return f"{name} is {dtype} {shape}"
    data = content.read()
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data):
        return f"{name} declares {dtype} {shape} and has {len(data)} bytes"
    order = "F" if in_columns else "C"
    return np.frombuffer(data, dtype).reshape(shape, order=order)
