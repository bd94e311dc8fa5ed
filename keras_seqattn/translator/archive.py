"""Reads zip files from untrusted sources. The sizes that they declare may be wrong."""

import io
import os
import zipfile
import zlib

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADER = 30  # bytes in front of a member's name
_CHUNK = 2**20  # bytes
# An archive may be unpacked to so many bytes, or to so many times those that it has.
_UNPACKED, _RATIO = 64 * 2**20, 20


def members_of(file, limits):
    """Members of an archive by name, which are not much larger than the archive.

    Keras stores members as they are; those of the shipped models are compressed.

    Args:
        file: binary file.
        limits: dict from the names that must be there to numbers of bytes, or None for
            the usual bound.
    """
    with zipfile.ZipFile(file) as archive:
        members = {member.filename: member for member in archive.infolist()}
    most = max(_UNPACKED, _RATIO * os.fstat(file.fileno()).st_size)
    for name, member in members.items():
        if member.compress_type not in _METHODS or member.flag_bits & 1:
            raise ValueError(f"{name!r} is encrypted, or compressed in a strange way")
        if member.file_size > (limits.get(name) or most):
            raise ValueError(f"{name!r} would be {member.file_size} bytes, unpacked")
        most -= member.file_size  # Keras may write all of them to the disk
    missing = set(limits) - set(members)
    if missing:
        raise ValueError(f"it has no {' and no '.join(sorted(missing))}")
    return members


def unpacked(file, member):
    """The bytes of a member, which are as many as it says, with their checksum.

    `zipfile`, and so Keras, unpacks everything before it compares the size with the
    declared one; and Keras does not check every checksum.
    """
    found, checksum = io.BytesIO(), 0
    for chunk in _chunks(Part(file, member), member.compress_type):
        checksum = zlib.crc32(chunk, checksum)
        found.write(chunk)
        if found.tell() > member.file_size:
            break
    if found.tell() != member.file_size or checksum != member.CRC:
        raise ValueError(f"{member.filename!r} is not what the archive declares")
    found.seek(0)
    return found


def _chunks(part, method):
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    while data := part.read(_CHUNK):
        if method == zipfile.ZIP_STORED:
            yield data
            continue
        while chunk := unpacker.decompress(data, _CHUNK):
            yield chunk
            data = unpacker.unconsumed_tail


class Part(io.RawIOBase):
    """A member of an archive as it is stored: a part of its file, not copied."""

    def __init__(self, file, member):
        file.seek(member.header_offset)
        header = file.read(_HEADER)
        lengths = (int.from_bytes(header[i : i + 2], "little") for i in (26, 28))
        self.start = member.header_offset + _HEADER + sum(lengths)
        self.file, self.size, self.at = file, member.compress_size, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=os.SEEK_SET):
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self.at, os.SEEK_END: self.size}[whence]
        self.at = max(0, start + offset)
        return self.at

    def readinto(self, buffer):
        count = max(0, min(len(buffer), self.size - self.at))
        self.file.seek(self.start + self.at)
        count = self.file.readinto(memoryview(buffer)[:count])
        self.at += count
        return count
