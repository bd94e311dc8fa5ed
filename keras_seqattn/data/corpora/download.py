"""Files from their public address: complete and as they should be, or not at all."""

import gzip
import hashlib
import http.client
import os
import urllib.error
import urllib.request
import zlib

from keras_seqattn.errors import four_part_error
from keras_seqattn.files import replacing

_PATIENCE = 30  # seconds without a byte


def fetch(owner, address, path, sha256):
    """Makes sure that a file is there; what is there already is not asked for.

    Args:
        owner: who wants it, for the errors.
        address: its URL.
        path: where it shall be.
        sha256: checksum of its content; of a gzip file, of what it holds.
    """
    if os.path.exists(path):
        return
    try:
        with urllib.request.urlopen(address, timeout=_PATIENCE) as response:
            received = response.read()
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it is an answer, too
        raise four_part_error(
            f"{owner} could not download a file",
            f"an answer from {address}",
            f"{str(error)!r}",
            f"Check the connection, or put {os.path.basename(path)!r} from another "
            f"machine into the folder {os.path.dirname(path)!r}",
            kind=ConnectionError,
        ) from error
    found = hashlib.sha256(_content(received)).hexdigest()
    if found != sha256:
        raise four_part_error(
            f"{owner} downloaded a file that is not the right one",
            f"content with sha256 {sha256}",
            f"{found} from {address}",
            "Try again; if it stays so, the file has changed: pass a folder with "
            "the files you trust",
        )
    with replacing(path) as part:
        part.write_bytes(received)


def _content(received):
    try:
        return gzip.decompress(received)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return received  # not compressed, or damaged: then the checksum is wrong
