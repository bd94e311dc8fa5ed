"""Read the pairs that the settings name, and make batches of them."""

import dataclasses
import hashlib
import random
import warnings

import numpy as np

from keras_seqattn import data
from keras_seqattn.checks import check_choice
from keras_seqattn.cli.progress import note, working
from keras_seqattn.cli.settings_checks import check_data_source
from keras_seqattn.cli.typed_arguments import call_with, parse_arguments
from keras_seqattn.data.batch_dataset import batches
from keras_seqattn.data.corpora.references import by_source
from keras_seqattn.data.encoding import encode
from keras_seqattn.data.filtering import filter_lengths
from keras_seqattn.data.tasks import TASKS, Task
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.errors import four_part_error, four_parts

BATCH_OPTIONS = ("batch_tokens", "batch_size", "pad_to_multiple", "seed")
TOO_LONG = 0.01  # share of targets longer than max_length that causes a warning


def read_task(settings):
    """Return the `Task` of the settings, and messages about pairs that are left out."""
    check_data_source(settings)
    dropped = {}
    if settings.task is not None:
        check_choice("seqattn", "task", settings.task, TASKS)
        function = TASKS[settings.task]
        values = parse_arguments(settings.task, function, settings.task_options)
        task = call_with(settings.task, function, values)
    elif settings.corpus is not None:
        task = _read_corpus(settings)
    else:
        task, dropped = _read_files(settings)
    pairs, report = data.filter_pairs(task.train, ratio=settings.ratio)
    dropped = {**dropped, **report.dropped}
    messages = [f"{count} pairs are left out: {why}" for why, count in dropped.items()]
    return dataclasses.replace(task, train=pairs), messages


def _read_corpus(settings):
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
            "Download a file, unpack it, and name it with --data",
        )
    return data.tatoeba(settings.data)


def _read_files(settings):
    """Return a `Task`, and how many pairs are left out, by reason.

    The references of a validation source are all its targets in the files.
    """
    pairs = read_file_pairs(settings)
    dropped = pairs.dropped
    if settings.validation_pairs or settings.validation_source:
        validation = known = read_file_pairs(settings, "validation_")
        for reason, count in validation.dropped.items():
            dropped = {**dropped, f"{reason}, of the validation set": count}
    else:
        known = pairs
        pairs, validation = _split(known, settings)
        others = len(known) - len(pairs) - len(validation)
        if others:
            dropped = {**dropped, "other targets of validation sources": others}
    validation, _ = data.filter_pairs(validation)
    targets = by_source(known)
    references = [targets[source] for source in validation.source]
    splits = {"validation": references, "test": references}
    kinds = "subwords", "subwords"
    task = Task(
        "files", "pairs of files", pairs, validation, validation, *kinds, splits
    )
    return task, dropped


def read_file_pairs(settings, prefix=""):
    """Return the pairs of a table or of two files; the prefix may be "validation_"."""
    table, source, target = (
        getattr(settings, f"{prefix}{name}") for name in ("pairs", "source", "target")
    )
    errors = settings.encoding_errors
    if table is None:
        return data.read_pairs(source, target, encoding_errors=errors)
    columns = settings.columns
    if columns and all(column.isdecimal() for column in columns):
        columns = [int(column) for column in columns]
    return data.read_pairs(table, columns=columns, encoding_errors=errors)


def _split(pairs, settings):
    """Split off the validation set; training has none of its sources."""
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
    # The seed is always 0, so that runs with other seeds can be compared.
    random.Random(0).shuffle(order)
    validation = pairs.select(sorted(order[:size]))
    known = set(validation.source)
    training = [i for i in sorted(order[size:]) if pairs.source[i] not in known]
    return pairs.select(training), validation


def fingerprints(task):
    """Return, for each split that training reads, its size and its checksum."""
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


def make_dataset(settings, pairs, translator, epoch=0):
    """Return batches from an epoch on, and the number of batches in an epoch."""

    def encoded(sample):
        texts = translator.source_text, translator.target_text
        return filter_lengths(encode(pairs, *texts, sample=sample), settings.max_tokens)

    options = {name: getattr(settings, name) for name in BATCH_OPTIONS}
    with working("encoding"):
        ids, report = encoded(sample=False)
        dataset = batches(ids, **options, epoch=epoch)
    for reason, count in report.dropped.items():
        note(f"{count} pairs are left out: {reason}")
    warn_of_lengths(ids, translator.pipeline.max_length)
    steps = int(dataset.cardinality())
    if settings.sample:  # a stream, because the number of batches varies a little
        dataset = batches(lambda _: encoded(sample=True)[0], **options, epoch=epoch)
        dataset = dataset.repeat()
    return dataset, steps


def warn_of_lengths(ids, max_length):
    """Warn if many targets are longer than any translation can be."""
    sources, targets = (
        side.lengths + 1 for side in (ids.source, ids.target)
    )  # + 1 for end tokens
    limits = max_length
    if isinstance(max_length, RelativeLength):
        limits = max_length.of_sizes(sources).numpy()
    longer = int(np.sum(targets > limits))
    if longer > TOO_LONG * len(targets):
        message = four_parts(
            "train got targets that are longer than any translation can be",
            f"at most {100 * TOO_LONG:.0f} % longer than max_length={max_length}",
            f"{longer} of {len(targets)}, the longest of {targets.max()} tokens",
            f"Add e.g. --max-length {targets.max()}",
        )
        warnings.warn(message, stacklevel=2)
