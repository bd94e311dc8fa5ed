"""The inputs of `seqattn translate`: what its words mean, and the lines of a file."""

import os
import re
import shlex
import warnings

from keras_seqattn.cli.load_translator import check_order
from keras_seqattn.cli.progress import note
from keras_seqattn.cli.text_files import read_lines
from keras_seqattn.errors import four_part_error, four_parts


def read_words(options):
    """Return the name of the translator, the file, and texts of the command line."""
    words = options.words
    if options.model is not None:
        _warn_of_files(options.model, words)
        return options.model, "-", words
    if not words or _is_text(words[0]):
        raise four_part_error(
            "translate got no translator",
            "RUN, or RUN and one FILE; or --model NAME and texts",
            repr(words[0]) if words else "neither RUN nor --model",
            "Name the folder of a run first, or write --model NAME before texts",
        )
    run, *words = words
    if words and all(map(_is_text, words)):
        return run, "-", words
    if len(words) > 1:
        _raise_too_many(run, words)
    [file] = words or ["-"]
    check_order("translate", run, file)
    if file != "-" and not os.path.exists(file) and not _is_path(file):
        raise four_part_error(
            "seqattn got a path without a file",
            "a text file, UTF-8",
            repr(file),
            "Check the spelling. If it is a text, write: "
            + shlex.join(["seqattn", "translate", "--model", run, file]),
        )
    return run, file, []


def _warn_of_files(run, words):
    """Warn if a text is the name of a file, whose lines were probably meant."""
    file = next(filter(os.path.isfile, words), None)
    if file is not None:
        message = four_parts(
            "translate got the name of a file as a text",
            "texts after --model",
            repr(file),
            "To translate the lines of the file, write: "
            + shlex.join(["seqattn", "translate", run, file]),
        )
        warnings.warn(message, stacklevel=2)


def _is_text(word):
    """Whether a word of the command line can only be a text: it has a blank."""
    has_blank = any(map(str.isspace, word.strip()))
    return has_blank and not os.path.exists(word) and not _is_path(word)


def _is_path(word):
    """Whether a word looks like a path: with a folder, or a suffix such as ".en"."""
    return os.sep in word or re.search(r"\.[a-z]\w{0,4}$", word) is not None


def _raise_too_many(run, words):
    are_files = any(os.path.exists(word) or _is_path(word) for word in words)
    is_one_text = not are_files and not any(map(_is_text, words))
    texts = [run, " ".join(words)] if is_one_text else ["--model", run, *words]
    raise four_part_error(
        "translate got too many files",
        "RUN, or RUN and one FILE; or texts",
        " ".join(map(repr, [run, *words])),
        "Translate one file after the other"
        if are_files
        else f"Write {shlex.join(['seqattn', 'translate', *texts])}",
    )


def read_texts(file, encoding_errors):
    """Return the lines of a file, or of standard input."""
    texts, broken = read_lines(file, encoding_errors)
    if broken:
        lines = ", ".join(map(str, broken[:5])) + (", ..." if broken[5:] else "")
        note(f"{len(broken)} lines are not UTF-8 and stay empty: {lines}")
    _warn_of_tabs(texts, file)
    return texts


def _warn_of_tabs(texts, file):
    """Warn if most lines have tabs, because the file is probably a table."""
    count = sum("\t" in text for text in texts)
    if 2 * count > len(texts):
        message = four_parts(
            "translate got texts with tabs",
            "a text in each line",
            f"tabs in {count} of {len(texts)} lines of {file!r}",
            "If it is a table, write the column with the texts into a file of its own, "
            "e.g. with cut -f1",
        )
        warnings.warn(message, stacklevel=2)
