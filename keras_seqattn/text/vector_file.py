"""Reads word vectors from a text file in the format of word2vec, GloVe and fastText."""

import codecs
import itertools
import os
from typing import Any, NamedTuple

import numpy as np

from keras_seqattn.checks import check_count
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.safe_reading import open_regular, plain_or_gzip

OWNER = "word_vectors"
_LONGEST = 2**17  # bytes of a line; vectors of 300 numbers have about 3000


class WordVectors(NamedTuple):
    """The vectors of a vocabulary."""

    matrix: Any  # float32 `[vocabulary, units]`
    found: Any  # bool `[vocabulary]`: whether the file has a vector of the word


def word_vectors(path, vocabulary, units=None, seed=0):
    """Read the vectors of the words of a vocabulary from a file.

    Each line has a word and its numbers, with spaces between them. The first line may
    be `<number of words> <units>`, as word2vec and fastText write it; GloVe does not.
    The file is UTF-8, plain or gzip, and is read line by line: only vectors of the
    vocabulary are kept. If a word has several vectors, the first one counts. Rows of
    other tokens are normally distributed, with the mean and the standard deviation of
    all numbers found.

    Args:
        path: path of the file.
        vocabulary: list of str, e.g. `Words.vocabulary`.
        units: the size that the vectors must have; None: that of the file.
        seed: seed of the rows that are drawn.

    Returns:
        `WordVectors(matrix, found)`: float32 `[vocabulary, units]`, the initial weight
        of an `Embedding`; and bool `[vocabulary]`, whether the file has the word.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> words = Words.learn(["a rose is a rose"])
        >>> with TemporaryDirectory() as folder:
        ...     with open(f"{folder}/vectors.txt", "w") as file:
        ...         print("rose 0.1 0.2", "tree -1 0.5", file=file, sep="\\n")
        ...     vectors = word_vectors(f"{folder}/vectors.txt", words.vocabulary)
        >>> vectors.matrix.shape, int(vectors.found.sum())
        ((7, 2), 1)

    References:
        Mikolov et al. 2013, arXiv:1301.3781 (word2vec).
        Pennington et al. 2014, 10.3115/v1/D14-1162 (GloVe).
    """
    places = _places(vocabulary)
    if units is not None:
        check_count(OWNER, "units", units)
    vectors = {}
    for word, vector in _vectors(os.fspath(path), places, units):
        vectors.setdefault(places[word], vector)
    if not vectors:
        raise four_part_error(
            f"{OWNER} found no word of the vocabulary",
            f"vectors of some of its {len(places)} words",
            f"{os.fspath(path)!r} with others only",
            "Check its language, and whether its words are in lower case",
        )
    rows = sorted(vectors)
    known = np.stack([vectors[row] for row in rows])
    draw = np.random.default_rng(seed)
    matrix = draw.normal(known.mean(), known.std(), (len(places), known.shape[1]))
    matrix = matrix.astype("float32")
    matrix[rows] = known
    found = np.zeros(len(places), bool)
    found[rows] = True
    return WordVectors(matrix, found)


def _places(vocabulary):
    """Return `{word: row}`."""
    is_list = isinstance(vocabulary, (list, tuple))
    if not is_list or not all(isinstance(word, str) for word in vocabulary):
        remedy = "Pass one str for each row"
        if hasattr(vocabulary, "vocabulary"):
            remedy = "Pass its attribute vocabulary"
        raise four_part_error(
            f"{OWNER} got an unusable vocabulary",
            "a list of str",
            abbreviated(vocabulary),
            remedy,
        )
    return {word: row for row, word in enumerate(vocabulary)}


def _vectors(path, places, units):
    """Yield the words of the vocabulary with their vectors."""
    size = count = None
    number = 0
    for number, line in enumerate(_lines(path), 1):
        fields = line.split()
        if number == 1 and len(fields) == 2 and all(map(bytes.isdigit, fields)):
            count, size = map(int, fields)
            continue
        if size is None:
            size = len(fields) - 1
        if None not in (units, size) and size != units:
            raise four_part_error(
                f"{OWNER} got vectors that do not fit the embedding",
                f"vectors of {units} numbers",
                f"{size} numbers in {path!r}",
                "Use vectors of this size, or an embedding of the size of the vectors",
            )
        if len(fields) != size + 1 or size < 1:
            if len(fields) > size + 1 and size > 0 and not _is_number(fields[1]):
                continue  # "New York": no word of a vocabulary has a blank
            received = f"{len(fields) - 1} of them" if fields else "an empty line"
            raise _bad_line(
                path, number, f"a word and {max(size, 1)} numbers", received
            )
        try:
            word = fields[0].decode()
        except UnicodeDecodeError:
            raise _bad_line(path, number, "UTF-8", abbreviated(fields[0])) from None
        if word in places:
            yield word, _numbers(path, number, fields[1:])
    if count is not None and number - 1 < count:
        raise four_part_error(
            f"{OWNER} got a file that is cut off",
            f"{count} vectors, as its first line says",
            f"{number - 1} in {path!r}",
            "Download or copy it again",
        )


def _numbers(path, line, fields):
    try:
        with np.errstate(over="ignore"):  # then it is infinity
            vector = np.array([float(field) for field in fields]).astype("float32")
    except ValueError as error:
        raise _bad_line(path, line, "numbers after the word", f"{error}") from None
    if not np.all(np.isfinite(vector)):
        raise _bad_line(path, line, "finite numbers", "NaN or infinity")
    return vector


def _is_number(field):
    try:
        float(field)
    except ValueError:
        return False
    return True


def _lines(path):
    """Yield the lines of a file as bytes, plain or gzip."""
    try:
        file = open_regular(OWNER, path)
    except (FileNotFoundError, NotADirectoryError):
        raise four_part_error(
            f"{OWNER} did not find a file",
            "a file with a word and its numbers in each line",
            repr(path),
            "Check the folder and the spelling",
            kind=FileNotFoundError,
        ) from None
    with file, plain_or_gzip(OWNER, file, path) as text:
        for number in itertools.count(1):
            line = text.readline(_LONGEST)
            if not line:
                return
            if len(line) == _LONGEST:
                raise _bad_line(
                    path, number, f"less than {_LONGEST} bytes", "a longer line"
                )
            yield line.removeprefix(codecs.BOM_UTF8) if number == 1 else line


def _bad_line(path, number, expected, received):
    return four_part_error(
        f"{OWNER} cannot read line {number} of {path}",
        expected,
        received,
        "Check whether it is a text file of word vectors, and copy it again",
    )
