"""The pairs of the user's files: read, judged, and split."""

import os
import warnings

from keras_seqattn.data.corpora.references import by_source
from keras_seqattn.data.filter_report import Report
from keras_seqattn.data.pair_files import pairs_and_mistakes
from keras_seqattn.data.splitting import split_validation
from keras_seqattn.data.tasks import Task
from keras_seqattn.data.text_files import check_file
from keras_seqattn.errors import four_part_error, four_parts

_NAMES = ("pairs", "source", "target")


def read_files(settings):
    """Return a `Task`, and `{split: Report}` of the rows that are left out.

    The references of a validation source are all its targets in the files.
    """
    pairs = known = read_file_pairs(settings)
    reports = {"train": pairs.report}
    if settings.validation_pairs or settings.validation_source:
        _warn_of_training_files(settings)
        validation = known = read_file_pairs(settings, "validation_")
        reports["validation"] = validation.report
    else:
        remedy = (
            "name other pairs with --validation-pairs, or choose a smaller number for "
            f"a first try, e.g. --validation-size {max(1, len(known) // 5)}"
        )
        size = settings.validation_size
        pairs, validation = split_validation("train", known, size, remedy)
        others = len(known) - len(pairs) - len(validation)
        if others:
            left_out = {"source is in the validation set": others}
            reports["train"] = known.report.then(Report(len(known), left_out))
    targets = by_source(known)
    references = [targets[source] for source in validation.source]
    splits = {"validation": references, "test": references}
    kinds = None, None  # chosen by the words of the texts
    task = Task(
        "files", "pairs of files", pairs, validation, validation, *kinds, splits
    )
    return task, reports


def read_file_pairs(settings, prefix=""):
    """Return the pairs of a table or of two files; the prefix may be "validation_"."""
    table, *sides = _paths(settings, prefix)
    for name, path in zip(_NAMES, (table, *sides), strict=True):
        if path is not None:
            check_file(path, f"--{prefix.replace('_', '-')}{name}")
    columns = settings.columns
    if columns and all(column.isdecimal() for column in columns):
        columns = [int(column) for column in columns]
    files = [table, None, None, columns] if table else [*sides, None, None]
    pairs, _ = pairs_and_mistakes(*files, settings.row_errors)
    if not pairs:
        names = " and ".join(repr(path) for path in files[:2] if path)
        raise four_part_error(
            "seqattn got files without pairs",
            "one pair or more",
            f"{_reasons(pairs.report)} in {names}",
            "Check the files and their format",
        )
    return pairs


def _paths(settings, prefix):
    return [getattr(settings, f"{prefix}{name}") for name in _NAMES]


def _reasons(report):
    """Return why nothing is left."""
    reasons = ", ".join(f"{why}: {count}" for why, count in report.dropped.items())
    return f"{report.total} rows ({reasons})" if reasons else "no row"


def _warn_of_training_files(settings):
    sets = [filter(None, _paths(settings, prefix)) for prefix in ("", "validation_")]
    both = set.intersection(*({os.path.realpath(x) for x in paths} for paths in sets))
    if both:
        message = four_parts(
            "train got the training pairs as its validation set",
            "files with other pairs",
            " and ".join(map(repr, sorted(both))),
            "The metrics only say how well the model remembers; leave the validation "
            "files out, and a part of the pairs is split off",
        )
        warnings.warn(message, stacklevel=2)
