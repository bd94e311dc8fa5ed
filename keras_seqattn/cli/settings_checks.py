"""Checks of settings that contradict each other or would have no effect."""

from keras_seqattn.errors import four_part_error
from seqattn_command.settings import Settings, names

SOURCES = ("task", "corpus", "pairs", "source")
# The optimizer of a paper sets these itself.
OPTIMIZER_SETTINGS = (
    "learning_rate",
    "schedule",
    "warmup",
    "clip_norm",
    "weight_decay",
)
# The settings by their smallest value.
MINIMA = {
    1: "validation_size max_tokens epochs batch_tokens batch_size validate_every "
    "patience pad_to_multiple beam validation_beam max_length ratio".split(),
    0: "seed attention average warmup clip_norm weight_decay label_smoothing ema "
    "sample".split(),
}


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
    for name, (condition, is_met) in _conditions(settings).items():
        is_changed = getattr(settings, name) != getattr(Settings(), name)
        if name in checked and is_changed and not is_met:
            raise four_part_error(
                f"{owner} got a setting that has no effect",
                f"--{_option(name)} only with {condition}",
                f"--{_option(name)} without",
                "Leave it out, or add what it needs",
            )


def _check_numbers(settings):
    for least, group in MINIMA.items():
        for name in group:
            text = f"{least} or more"
            _check_number(settings, name, text, lambda x, least=least: x >= least)
    for name in ("learning_rate", "minutes"):
        _check_number(settings, name, "more than 0", lambda x: x > 0)
    for name in ("label_smoothing", "ema"):
        _check_number(settings, name, "less than 1", lambda x: x < 1)


def _check_number(settings, name, expected, is_valid):
    value = getattr(settings, name)
    if value is not None and not is_valid(value):  # no condition is true for NaN
        raise four_part_error(
            f"train got an unusable --{_option(name)}",
            expected,
            str(value),
            "See seqattn train --help",
        )


def _check_warmup(settings):
    if settings.warmup and settings.schedule == "nvidia_gnmt":
        raise four_part_error(
            "train got a warm-up for a schedule that has its own",
            "--warmup with another --schedule",
            f"--warmup {settings.warmup} and --schedule nvidia_gnmt",
            "Leave --warmup out: this schedule warms up in its first 200 steps",
        )


def _conditions(settings):
    """Return, by setting, what it needs as text, and whether the settings have it."""
    multi30k = "--corpus multi30k", settings.corpus == "multi30k"
    files = settings.source is not None or settings.pairs is not None
    is_split = settings.validation_source is None and settings.validation_pairs is None
    of_files = "--source and --target, or --pairs", files
    keras = "an optimizer of Keras", settings.optimizer != "paper"
    return {
        **dict.fromkeys(("languages", "tokenized"), multi30k),
        "data": ("--corpus", settings.corpus is not None),
        "task_options": ("--task", settings.task is not None),
        "columns": ("--pairs", settings.pairs is not None),
        "encoding_errors": of_files,
        "validation_source": of_files,
        "validation_pairs": of_files,
        "validation_size": ("files that have no validation set", files and is_split),
        **dict.fromkeys(OPTIMIZER_SETTINGS, keras),
        "length_penalty": ("--beam 2 or more", settings.beam > 1),
    }


def check_data_source(settings):
    """Check that there is one source of data, and both sides of file pairs."""
    for side in ("", "validation_"):
        sides = [f"{side}source", f"{side}target"]
        named = [name for name in sides if getattr(settings, name) is not None]
        if len(named) == 1:
            raise four_part_error(
                "seqattn got one side only",
                " and ".join(f"--{_option(name)}" for name in sides),
                f"--{_option(named[0])} alone",
                "Name the other file, or use --pairs for one file with both sides",
            )
    if settings.validation_pairs is not None and settings.validation_source is not None:
        raise four_part_error(
            "train got several validation sets",
            "one of --validation-pairs and --validation-source",
            "--validation-pairs and --validation-source",
            "Leave out the other",
        )
    named = [name for name in SOURCES if getattr(settings, name) is not None]
    if len(named) != 1:
        raise four_part_error(
            "seqattn got several data sets" if named else "seqattn got no data",
            "one of --task, --corpus, --pairs and --source",
            " and ".join(f"--{name}" for name in named) or "none of them",
            "Leave out the others" if named else "Try --task dates",
        )


def _option(name):
    """Return the name of the option, without its dashes."""
    return {"task_options": "task-option"}.get(name, name.replace("_", "-"))
