"""Read the pairs that the settings name, and make batches of them."""

import dataclasses
import hashlib
import warnings

import numpy as np

from keras_seqattn import data
from keras_seqattn.checks import check_choice
from keras_seqattn.cli.file_pairs import read_files
from keras_seqattn.cli.progress import note, working
from keras_seqattn.cli.settings_checks import check_data_source
from keras_seqattn.cli.typed_arguments import call_with, parse_arguments
from keras_seqattn.data.batch_dataset import batches
from keras_seqattn.data.encoding import encode
from keras_seqattn.data.filter_report import Report
from keras_seqattn.data.filtering import filter_lengths
from keras_seqattn.data.tasks import TASKS
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.errors import four_part_error, four_parts

BATCH_OPTIONS = ("batch_tokens", "batch_size", "pad_to_multiple", "seed")
TOO_LONG = 0.01  # share of targets longer than max_length that causes a warning


def read_task(settings):
    """Return the `Task` of the settings, and `{split: Report}` of what is left out."""
    check_data_source(settings)
    reports = {}
    if settings.task is not None:
        check_choice("seqattn", "task", settings.task, TASKS)
        function = TASKS[settings.task]
        values = parse_arguments(settings.task, function, settings.task_options)
        task = call_with(settings.task, function, values)
    elif settings.corpus is not None:
        task = _read_corpus(settings)
    else:
        task, reports = read_files(settings)
    # A text has at least as many tokens as words: texts that are too long in any case
    # do not even shape the vocabulary.
    pairs, report = data.filter_pairs(
        task.train, max_words=settings.max_tokens, ratio=settings.ratio
    )
    before = reports.get("train") or Report(report.total)
    reports["train"] = report = before.then(report)
    if not pairs:
        reasons = ", ".join(f"{why}: {n}" for why, n in report.dropped.items())
        raise four_part_error(
            "train got no pairs to learn from",
            "one pair or more",
            f"none of {report.total} rows ({reasons})",
            "Change what leaves them out",
        )
    return dataclasses.replace(task, train=pairs), reports


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
    """Return batches from an epoch on, their number in an epoch, and a `Report`."""

    def encoded(sample):
        texts = translator.source_text, translator.target_text
        return filter_lengths(encode(pairs, *texts, sample=sample), settings.max_tokens)

    options = {name: getattr(settings, name) for name in BATCH_OPTIONS}
    with working("encoding"):
        ids, report = encoded(sample=False)
        dataset = batches(ids, **options, epoch=epoch)
    if report.dropped:
        note(f"after encoding: {report}")
    warn_of_lengths(ids, translator.pipeline.max_length)
    steps = int(dataset.cardinality())
    if settings.sample:  # a stream, because the number of batches varies a little
        dataset = batches(lambda _: encoded(sample=True)[0], **options, epoch=epoch)
        dataset = dataset.repeat()
    return dataset, steps, report


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
