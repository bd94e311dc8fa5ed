"""Settings that contradict each other, or that nothing would use."""

from keras_seqattn.cli.settings import Settings
from keras_seqattn.cli.settings import names as names_of
from keras_seqattn.errors import four_part_error

PLACES = ("task", "corpus", "pairs", "source")
# What the optimizer of a paper brings itself.
OF_OPTIMIZER = ("learning_rate", "schedule", "warmup", "clip_norm", "weight_decay")
# The least that is of use.
LEAST = {
    1: "validation_size max_tokens epochs batch_tokens batch_size validate_every "
    "patience pad_to_multiple beam validation_beam max_length ratio".split(),
    0: "seed attention average warmup clip_norm weight_decay label_smoothing ema "
    "sample".split(),
}


def check(settings):
    """Raises where a training would ignore a setting, or could not use it."""
    check_place(settings)
    _check_numbers(settings)
    _check_warmup(settings)
    _check_used("train", settings, names_of())


def check_data(settings):
    """The same of the data alone, for who does not train."""
    check_place(settings)
    _check_used("seqattn", settings, names_of(["data"]))


def _check_used(owner, settings, among):
    for name, (condition, is_met) in _needs(settings).items():
        is_given = getattr(settings, name) != getattr(Settings(), name)
        if name in among and is_given and not is_met:
            raise four_part_error(
                f"{owner} got a setting that nothing would use",
                f"--{_option(name)} only with {condition}",
                f"--{_option(name)} without",
                "Leave it out, or add the other",
            )


def _check_numbers(settings):
    for least, names in LEAST.items():
        for name in names:
            _check_number(settings, name, least, lambda x, least=least: x >= least)
    for name in ("learning_rate", "minutes"):
        _check_number(settings, name, "more than 0", lambda x: x > 0)
    for name in ("label_smoothing", "ema"):
        _check_number(settings, name, "less than 1", lambda x: x < 1)


def _check_number(settings, name, words, is_right):
    value = getattr(settings, name)
    if value is not None and not is_right(value):  # NaN is never right
        raise four_part_error(
            f"train got an unusable --{_option(name)}",
            f"{words} or more" if isinstance(words, int) else words,
            str(value),
            "See seqattn train --help",
        )


def _check_warmup(settings):
    if settings.warmup and settings.schedule == "nvidia_gnmt":
        raise four_part_error(
            "train got a warm-up for a schedule that has its own",
            "--warmup with another --schedule",
            f"--warmup {settings.warmup} and --schedule nvidia_gnmt",
            "Leave --warmup out: this schedule rises in its first 200 steps",
        )


def _needs(settings):
    """By name: with what a setting is of use, in words, and whether that is there."""
    multi30k = "--corpus multi30k", settings.corpus == "multi30k"
    files = settings.source is not None or settings.pairs is not None
    own = settings.validation_source is None and settings.validation_pairs is None
    validation = "--source and --target, or --pairs", files
    keras = "an optimizer of Keras", settings.optimizer != "paper"
    return {
        **dict.fromkeys(("languages", "tokenized"), multi30k),
        "data": ("--corpus", settings.corpus is not None),
        "task_options": ("--task", settings.task is not None),
        "columns": ("--pairs", settings.pairs is not None),
        "encoding_errors": validation,
        "validation_source": validation,
        "validation_pairs": validation,
        "validation_size": ("files that have no validation set", files and own),
        **dict.fromkeys(OF_OPTIMIZER, keras),
        "length_penalty": ("--beam 2 or more", settings.beam > 1),
    }


def check_place(settings):
    """The data come from one place, and a file of sources has one of targets."""
    for side in ("", "validation_"):
        sides = [f"{side}source", f"{side}target"]
        there = [name for name in sides if getattr(settings, name) is not None]
        if len(there) == 1:
            raise four_part_error(
                "seqattn got one side only",
                " and ".join(f"--{_option(name)}" for name in sides),
                f"--{_option(there[0])} alone",
                "Name the other file; one file with both sides is for --pairs",
            )
    if settings.validation_pairs is not None and settings.validation_source is not None:
        raise four_part_error(
            "train got a validation set from several places",
            "one of --validation-pairs and --validation-source",
            "--validation-pairs and --validation-source",
            "Leave out the other",
        )
    given = [name for name in PLACES if getattr(settings, name) is not None]
    if len(given) != 1:
        raise four_part_error(
            "seqattn got data from several places" if given else "seqattn got no data",
            "one of --task, --corpus, --pairs and --source",
            " and ".join(f"--{name}" for name in given) or "none of them",
            "Leave out the others" if given else "Try --task dates",
        )


def _option(name):
    """What it is called on the command line."""
    return {"task_options": "task-option"}.get(name, name.replace("_", "-"))
