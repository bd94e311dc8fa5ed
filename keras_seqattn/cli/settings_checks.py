"""Checks of settings that contradict each other or would have no effect."""

import dataclasses
import operator
import os

from keras_seqattn.errors import four_part_error
from seqattn_command.settings import Settings, names

SOURCES = ("task", "corpus", "pairs", "source")
SIDES = ("source", "target")
# A trained translator has these already.
TEXT_SETTINGS = ("joint", "lowercase", "normalization")
# The optimizer of a paper sets these itself.
OPTIMIZER_SETTINGS = (
    "learning_rate",
    "schedule",
    "warmup",
    "clip_norm",
    "weight_decay",
)


def check_settings(settings):
    """Check that training can use every setting and ignores none."""
    check_data_source(settings)
    _check_numbers(settings)
    _check_warmup(settings)
    _check_used("train", settings, names())


def check_data(settings):
    """Check only the settings of the data, for verbs that do not train."""
    check_data_source(settings)
    _check_used("seqattn", settings, names(["data"]))


def _check_used(owner, settings, checked):
    for name, condition, is_met in _conditions(settings):
        is_changed = getattr(settings, name) != getattr(Settings(), name)
        if name in checked and is_changed and not is_met:
            raise four_part_error(
                f"{owner} got a setting that has no effect",
                f"--{_option(name)} only with {condition}",
                f"--{_option(name)} without",
                "Leave it out, or add what it needs",
            )


def _check_numbers(settings):
    for field in dataclasses.fields(settings):
        bounds = field.metadata["bounds"]
        for bound, words, is_inside in _BOUNDS:
            limit, value = bounds[bound], getattr(settings, field.name)
            if None in (limit, value) or is_inside(value, limit):
                continue  # nothing is inside for NaN
            raise four_part_error(
                f"train got an unusable --{_option(field.name)}",
                words.format(limit),
                str(value),
                "See seqattn train --help",
            )


_BOUNDS = (
    ("least", "{} or more", operator.ge),
    ("above", "more than {}", operator.gt),
    ("below", "less than {}", operator.lt),
)


def _check_warmup(settings):
    if settings.warmup and settings.schedule == "nvidia_gnmt":
        raise four_part_error(
            "train got a warm-up for a schedule that has its own",
            "--warmup with another --schedule",
            f"--warmup {settings.warmup} and --schedule nvidia_gnmt",
            "Leave --warmup out: this schedule warms up in its first 200 steps",
        )
    if settings.warmup == 0 and settings.schedule == "inverse_root":
        raise four_part_error(
            "train got no warm-up for a schedule that begins with one",
            "--warmup with --schedule inverse_root, 1 or more",
            f"--warmup {settings.warmup}",
            "Add e.g. --warmup 2000: the learning rate rises to --learning-rate",
        )


def _conditions(settings):
    """Return settings, what each needs as text, and whether the settings have it."""
    multi30k = "--corpus multi30k", settings.corpus == "multi30k"
    files = settings.source is not None or settings.pairs is not None
    is_split = settings.validation_source is None and settings.validation_pairs is None
    of_files = "--source and --target, or --pairs", files
    keras = "an optimizer of Keras", settings.optimizer != "paper"
    is_new = settings.init_from is None
    learns = is_new or settings.source_text or settings.target_text
    return [
        ("languages", *multi30k),
        ("tokenized", *multi30k),
        ("data", "--corpus", settings.corpus is not None),
        ("task_options", "--task", settings.task is not None),
        ("columns", "--pairs", settings.pairs is not None),
        ("row_errors", *of_files),
        ("validation_source", *of_files),
        ("validation_pairs", *of_files),
        ("validation_size", "files that have no validation set", files and is_split),
        *((name, *keras) for name in OPTIMIZER_SETTINGS),
        *((name, "--text beside --init-from", learns) for name in TEXT_SETTINGS),
        *((f"{side}_vectors", "a model without --init-from", is_new) for side in SIDES),
        ("length_penalty", "--beam 2 or more", settings.beam > 1),
    ]


def check_data_source(settings):
    """Check that there is one source of data, and both sides of file pairs."""
    named = [name for name in SOURCES if getattr(settings, name) is not None]
    if len(named) > 1:
        raise four_part_error(
            "seqattn got several data sets",
            "one of --task, --corpus, --pairs and --source",
            " and ".join(f"--{name}" for name in named),
            "Leave out the others",
        )
    for side in ("", "validation_"):
        _check_sides(settings, [f"{side}source", f"{side}target"])
    if settings.validation_pairs is not None and settings.validation_source is not None:
        raise four_part_error(
            "train got several validation sets",
            "one of --validation-pairs and --validation-source",
            "--validation-pairs and --validation-source",
            "Leave out the other",
        )
    if not named:
        raise four_part_error(
            "seqattn got no data",
            "one of --task, --corpus, --pairs and --source",
            "none of them",
            "Name a table of pairs with --pairs, or two files with --source and "
            "--target; or try --task dates",
        )


def _check_sides(settings, sides):
    """Check that two files are named, or none."""
    named = [name for name in sides if getattr(settings, name) is not None]
    options = " and ".join(f"--{_option(name)}" for name in sides)
    if len(named) == 1:
        raise four_part_error(
            "seqattn got one side only",
            options,
            f"--{_option(named[0])} alone",
            "Name the other file, or use --pairs for one file with both sides",
        )
    paths = [getattr(settings, name) for name in named]
    if named and os.path.realpath(paths[0]) == os.path.realpath(paths[1]):
        raise four_part_error(
            "seqattn got the same file for both sides",
            f"{options} of two files",
            f"{paths[0]!r} twice",
            "Name the file of the other language; to learn to copy, name a copy",
        )


def _option(name):
    """Return the name of the option, without its dashes."""
    return {"task_options": "task-option"}.get(name, name.replace("_", "-"))
