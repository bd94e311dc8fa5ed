"""Arrays of integers from a NumPy .npz file that may be untrusted."""

import io
import math
import os
import zipfile

import numpy as np

from keras_seqattn.errors import four_part_error
from keras_seqattn.safe_reading import in_one_line, open_regular

OWNER = "Shortlist.load"
# Largest arrays in bytes, by rank. A table of 100 000 tokens with 100 each has 40
# million bytes.
_MAX_BYTES = {0: 2**10, 1: 16 * 2**20, 2: 128 * 2**20}


def read_arrays(path, ranks, numbers):
    """Return a dict of arrays and integers.

    `numpy.load` would trust the sizes that the file declares, and allocate the memory.

    Args:
        path: of the file.
        ranks: dict from the names of the arrays to their numbers of axes.
        numbers: names of single integers.
    """
    ranks = {**ranks, **dict.fromkeys(numbers, 0)}
    with open_regular(OWNER, path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                arrays = {name: _array(archive, name, n) for name, n in ranks.items()}
            faults, cause = [x for x in arrays.values() if isinstance(x, str)], None
        except Exception as error:  # of any kind: the file may hold anything
            faults, cause = [in_one_line(error)], error
    if faults:
        raise four_part_error(
            f"{OWNER} cannot read {os.fspath(path)}",
            f"integer arrays {list(ranks)} of a saved Shortlist",
            f"something else ({faults[0]})",
            "Make one with Shortlist.learn, or copy the file again",
        ) from cause
    return {**arrays, **{name: int(arrays[name]) for name in numbers}}


def _array(archive, name, rank):
    """Return one array, or a str that says what is wrong with it."""
    with archive.open(f"{name}.npy") as member:
        # `read` unpacks at most this many bytes, whatever size the archive declares.
        content = io.BytesIO(member.read(_MAX_BYTES[rank] + 1))
    if len(content.getbuffer()) > _MAX_BYTES[rank]:
        return f"{name} has more than {_MAX_BYTES[rank]} bytes"
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
