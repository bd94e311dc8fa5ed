"""Downloads of files, with a checksum."""

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
    """Download a file, completely or not at all, if it does not exist yet.

    Args:
        owner: name of the corpus, for the errors.
        address: URL of the file.
        path: where the file is stored.
        sha256: checksum of its content; of a gzip file, of the uncompressed content.
    """
    if os.path.exists(path):
        return
    try:
        with urllib.request.urlopen(address, timeout=_PATIENCE) as response:
            received = response.read()
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # this error is an open response
        raise four_part_error(
            f"{owner} could not download a file",
            f"an answer from {address}",
            f"{str(error)!r}",
            f"Check the connection, or copy {os.path.basename(path)!r} from another "
            f"machine into the folder {os.path.dirname(path)!r}",
            kind=ConnectionError,
        ) from error
    checksum = hashlib.sha256(_content(received)).hexdigest()
    if checksum != sha256:
        raise four_part_error(
            f"{owner} downloaded a file with a wrong checksum",
            f"content with sha256 {sha256}",
            f"{checksum} from {address}",
            "Try again; if that fails, the file has changed: pass a folder with files "
            "that you trust",
        )
    with replacing(path) as part:
        part.write_bytes(received)


def _content(received):
    try:
        return gzip.decompress(received)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return received  # it is not compressed, or its checksum is wrong
