"""Texts to learn a vocabulary from: from any iterable, or from files."""

import codecs
import gzip
import itertools
from collections.abc import Iterable
from pathlib import Path

import tensorflow as tf

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.safe_reading import well_formed
from keras_seqattn.text.checks import strings_of

CHUNK = 1024


def normalized(owner, texts, normalizer):
    """Yield each normalised text as str; empty ones are left out."""
    count = 0
    flat = each_text(owner, texts)
    while chunk := list(itertools.islice(flat, CHUNK)):
        for text in normalizer(tf.constant(chunk)).text().numpy():
            if text:
                count += 1
                yield text.decode()
    if not count:
        raise four_part_error(
            f"{owner} got nothing to learn from",
            "at least one text that is not empty",
            "no text",
            "Check the iterable: it yields nothing if it was used up before",
        )


def each_text(owner, texts):
    """Yield bytes from str, bytes, arrays and tensors."""
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        is_text = isinstance(texts, (str, bytes))
        raise four_part_error(
            f"{owner} got {'one text instead of several' if is_text else 'no texts'}",
            "an iterable of str",
            abbreviated(texts),
            "Pass [text], or call learn_from_files([path]) for a file",
        )
    for item in texts:
        if isinstance(item, str):
            yield well_formed(item).encode()
        elif isinstance(item, bytes):
            yield item
        elif getattr(item, "dtype", None) in (tf.string, object):
            yield from tf.reshape(strings_of(item), [-1]).numpy()
        else:
            raise four_part_error(
                f"{owner} got an unusable text",
                "str, bytes or a string tensor",
                abbreviated(item),
                "Pass one text per item; of pairs, pass pairs.source or pairs.target",
            )


def each_line(owner, paths):
    """Yield the lines of files, plain or gzip, without line ends."""
    paths = [paths] if isinstance(paths, (str, Path)) else paths
    for path in map(Path, paths):
        if not path.is_file():
            raise four_part_error(
                f"{owner} did not find a file",
                "a file with one text in each line",
                f"{str(path)!r}",
                "Check the path",
                kind=FileNotFoundError,
            )
        with path.open("rb") as file:
            is_gzip = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if is_gzip else path.open("rb") as lines:
            for line in lines:
                yield line.removeprefix(codecs.BOM_UTF8).rstrip(b"\r\n")
