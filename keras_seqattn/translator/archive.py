"""Reads zip files that may be untrusted: the sizes that they declare may be wrong."""

import io
import os
import zipfile
import zlib

from keras_seqattn.translator.unsafe_file import UnsafeFile

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADER = 30  # bytes before the name of a member
_CHUNK = 2**20  # bytes
# Greatest size of all members, in bytes or relative to the archive: the larger holds.
_UNPACKED, _RATIO = 64 * 2**20, 20


def checked_members(file, limits):
    """Return the members of an archive by name, and check what they declare.

    Keras stores members uncompressed; those of the shipped models are compressed.

    Args:
        file: binary file.
        limits: dict from the names of required members to their greatest numbers of
            bytes; None means the limit for the whole archive.
    """
    with zipfile.ZipFile(file) as archive:
        members = {member.filename: member for member in archive.infolist()}
    remaining = max(_UNPACKED, _RATIO * os.fstat(file.fileno()).st_size)
    for name, member in members.items():
        if member.compress_type not in _METHODS or member.flag_bits & 1:
            raise UnsafeFile(f"{name!r} is encrypted or has an unknown compression")
        if member.file_size > (limits.get(name) or remaining):
            raise UnsafeFile(f"{name!r} would be {member.file_size} bytes, unpacked")
        remaining -= member.file_size  # Keras may write all members to the disk
    missing = set(limits) - set(members)
    if missing:
        raise UnsafeFile(f"the archive lacks {' and '.join(sorted(missing))}")
    return members


def unpack(file, member):
    """Return a file in memory with the content of a member, and check it.

    `zipfile`, and so Keras, unpacks everything before it compares the size with the
    declared one, and Keras does not check every checksum.
    """
    content, checksum = io.BytesIO(), 0
    for chunk in _chunks(StoredMember(file, member), member.compress_type):
        checksum = zlib.crc32(chunk, checksum)
        content.write(chunk)
        if content.tell() > member.file_size:
            break
    if content.tell() != member.file_size or checksum != member.CRC:
        name = repr(member.filename)
        raise UnsafeFile(
            f"{name} has another size or checksum than the archive declares"
        )
    content.seek(0)
    return content


def _chunks(stored, method):
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    while data := stored.read(_CHUNK):
        if method == zipfile.ZIP_STORED:
            yield data
            continue
        while chunk := unpacker.decompress(data, _CHUNK):
            yield chunk
            data = unpacker.unconsumed_tail


class StoredMember(io.RawIOBase):
    """The stored bytes of a member: a window of the archive's file, not a copy."""

    def __init__(self, file, member):
        file.seek(member.header_offset)
        header = file.read(_HEADER)
        lengths = (int.from_bytes(header[i : i + 2], "little") for i in (26, 28))
        self.start = member.header_offset + _HEADER + sum(lengths)
        self.file, self.size, self.position = file, member.compress_size, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=os.SEEK_SET):
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self.position, os.SEEK_END: self.size}
        self.position = max(0, starts[whence] + offset)
        return self.position

    def readinto(self, buffer):
        count = max(0, min(len(buffer), self.size - self.position))
        self.file.seek(self.start + self.position)
        count = self.file.readinto(memoryview(buffer)[:count])
        self.position += count
        return count
