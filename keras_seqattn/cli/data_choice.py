"""From settings to pairs: for training, to choose by, for the last word."""

import dataclasses
import hashlib
import random

from keras_seqattn import data
from keras_seqattn.checks import check_choice
from keras_seqattn.cli.progress import note
from keras_seqattn.cli.settings_checks import check_place
from keras_seqattn.cli.values import arguments, call
from keras_seqattn.data.corpora.references import by_source
from keras_seqattn.data.tasks import TASKS, Task
from keras_seqattn.errors import four_part_error


def read(settings):
    """The `Task` of the settings, and lines that say what was left out of it."""
    check_place(settings)
    if settings.task is not None:
        check_choice("seqattn", "task", settings.task, TASKS)
        make, dropped = TASKS[settings.task], {}
        values = arguments(settings.task, make, settings.task_options)
        task = call(settings.task, make, values)
    elif settings.corpus is not None:
        task, dropped = _corpus(settings), {}
    else:
        task, dropped = _from_files(settings)
    pairs, report = data.filter_pairs(task.train, ratio=settings.ratio)
    dropped = {**dropped, **report.dropped}
    lines = [f"{count} pairs are left out: {why}" for why, count in dropped.items()]
    return dataclasses.replace(task, train=pairs), lines


def _corpus(settings):
    if settings.corpus == "g2p":
        return data.cmudict(settings.data)
    if settings.corpus == "multi30k":
        languages = tuple(settings.languages or ("en", "de"))
        return data.multi30k(settings.data, languages, settings.tokenized)
    if settings.data is None:
        raise four_part_error(
            "train got a corpus without its file",
            "--data FILE, one of https://www.manythings.org/anki",
            "--corpus tatoeba alone",
            "Download a file, unpack it, and name it",
        )
    return data.tatoeba(settings.data)


def _from_files(settings):
    """What is right for a held-out source are all its targets in the files."""
    pairs = _read(settings, settings.pairs, settings.source, settings.target)
    dropped = pairs.dropped
    if settings.validation_pairs or settings.validation_source:
        held = known = _read(
            settings,
            settings.validation_pairs,
            settings.validation_source,
            settings.validation_target,
        )
        for reason, count in held.dropped.items():
            dropped = {**dropped, f"{reason}, of the validation set": count}
    else:
        known = pairs
        pairs, held = _split(known, settings)
        others = len(known) - len(pairs) - len(held)
        if others:
            dropped = {**dropped, "other targets of held-out sources": others}
    held, _ = data.filter_pairs(held)
    targets = by_source(known)
    references = [targets[source] for source in held.source]
    of_splits = {"validation": references, "test": references}
    kinds = "subwords", "subwords"
    task = Task("files", "pairs of files", pairs, held, held, *kinds, of_splits)
    return task, dropped


def _read(settings, table, source, target):
    errors = settings.encoding_errors
    if table is None:
        return data.read_pairs(source, target, encoding_errors=errors)
    columns = settings.columns
    if columns and all(column.isdecimal() for column in columns):
        columns = [int(column) for column in columns]
    return data.read_pairs(table, columns=columns, encoding_errors=errors)


def _split(pairs, settings):
    """No source that is held out stands among those to learn from."""
    size = settings.validation_size
    if not 0 < size < len(pairs):
        raise four_part_error(
            "train cannot split off a validation set",
            f"--validation-size from 1 to less than {len(pairs)}, the number of pairs",
            str(size),
            "Choose another size, or name files with --validation-source and "
            "--validation-target",
        )
    order = list(range(len(pairs)))
    random.Random(0).shuffle(order)  # runs with other seeds shall be comparable
    held = pairs.select(sorted(order[:size]))
    known = set(held.source)
    left = [i for i in sorted(order[size:]) if pairs.source[i] not in known]
    return pairs.select(left), held


def to_judge(settings, split):
    """Pairs to judge a translator by, and the references of each.

    Two files or a table are taken as they are; of a task or a corpus, a split.
    """
    if settings.task is not None or settings.corpus is not None:
        task, _ = read(settings)
        return getattr(task, split), task.references[split]
    check_place(settings)
    pairs = _read(settings, settings.pairs, settings.source, settings.target)
    for reason, count in pairs.dropped.items():
        note(f"{count} pairs are left out: {reason}")
    return pairs, [[target] for target in pairs.target]


def fingerprints(task):
    """Of what a training reads: by split, number of pairs and checksum of the texts."""
    return {
        "train": _fingerprint(task.train),
        "validation": _fingerprint(task.validation),
    }


def _fingerprint(pairs):
    digest = hashlib.sha256()
    for side in (pairs.source, pairs.target):
        for text in side:
            digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
    return {"pairs": len(pairs), "sha256": digest.hexdigest()}
