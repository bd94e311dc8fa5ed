"""Trains a translator, and keeps the best one in a folder."""

import argparse
import errno
import sys

from keras_seqattn.cli.errors import RunFailed
from keras_seqattn.cli.settings import Settings, names
from keras_seqattn.cli.train_options import add_settings, given
from keras_seqattn.errors import four_part_error

HELP = "train a translator"
EXAMPLES = """\
examples:
  a built-in task, nothing is downloaded:
    seqattn train --task dates --preset small --out runs/dates
  two files of sentences, subwords, a larger model:
    seqattn train --source train.en --target train.de --text sentencepiece:8000 \\
        --joint --preset small --set units=256 embedding=256 --out runs/en-de
  a corpus, with all that helps:
    seqattn train --corpus multi30k --data multi30k --tokenized --preset small \\
        --learning-rate 0.002 --schedule cosine --warmup 500 --epochs 30 \\
        --label-smoothing 0.1 --ema 0.999 --patience 8 --out runs/multi30k
  go on after Ctrl-C, or for more epochs:
    seqattn train --resume runs/en-de --epochs 20
  do it again, with another seed:
    seqattn train --repeat runs/en-de/run.json --seed 1 --out runs/en-de-1

The folder holds run.json (settings, versions, data), translator/ (the best one, for
`seqattn translate`), checkpoints/, history.jsonl, and logs/ for TensorBoard.
"""


_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


def configure(parser):
    """Adds its options."""
    parser.usage = "seqattn train (--out RUN | --resume RUN) [options]"
    where = parser.add_argument_group("run (one of --out and --resume)")
    where.add_argument("--out", metavar="RUN", help="new folder of the run")
    where.add_argument(
        "--resume", metavar="RUN", help="go on with a run; it may get more epochs"
    )
    where.add_argument(
        "--repeat", metavar="RUN.JSON", help="the settings of another run, into --out"
    )
    groups = add_settings(parser)
    groups["text"].add_argument(
        "--text",
        default=argparse.SUPPRESS,
        metavar="KIND[:SIZE[:TYPE]]",
        help="the same as --source-text and --target-text",
    )


def run(parsed):
    """Trains."""
    from keras_seqattn.cli.run_folder import RunFolder

    sys.stdout.reconfigure(line_buffering=True)  # a log file is read while it grows
    _check_folders(parsed)
    run = RunFolder(parsed.resume or parsed.out)
    if parsed.resume:
        run.content()  # an error now, before there is a folder of this name
    elif not run.exists:
        run.check_path()
    with run.locked(parsed.command):
        run.repair()
        return _train(parsed, run)


def _train(parsed, run):
    """In a folder that no other process writes to; returns the exit code."""
    from keras_seqattn.cli import data_choice, training
    from keras_seqattn.cli.progress import note

    settings, expected = _what(parsed, run)
    training.check(settings)
    task, lines = data_choice.read(settings)
    settings = training.effective(settings, task)
    data = data_choice.fingerprints(task)
    run.about = {"command": parsed.command, "data": data}
    if not parsed.resume:
        run.check_free(settings)
    _check_same(expected, data)
    for line in lines:
        note(line)
    note(f"{len(task.train)} pairs to learn from, {len(task.validation)} to choose by")
    try:
        training.train(settings, task, run)
    except KeyboardInterrupt:
        note(_last_words(run, "stopped"))
        if settings.average:
            note("The mean of the last ones is tried when a training is done.")
        return 130
    except (FloatingPointError, RunFailed):
        note(_last_words(run, "failed"))
        raise
    except OSError as error:
        if error.errno not in _OF_THE_DISK:
            raise
        raise four_part_error(
            "train could not write to the disk",
            "room and a disk that can be written to",
            f"{error.strerror!r} in {str(run.path)!r}",
            "What was there before is untouched: make room, then call the command "
            "again, or with --resume if there is a run.json",
            kind=RunFailed,
        ) from error
    note(_last_words(run, "done"))
    return 0


def _what(parsed, run):
    """The settings, and the data that are expected."""
    from keras_seqattn.cli.run_folder import FREE
    from keras_seqattn.cli.run_json import read_run, warn_of_versions

    values = given(parsed)
    if "text" in parsed:
        values = {"source_text": parsed.text, "target_text": parsed.text, **values}
    if not parsed.resume and not parsed.repeat:
        return Settings(**values).with_absolute_paths(), None
    if parsed.resume:
        content = run.content()
        _check_free(values, FREE, content["settings"])
    else:
        content = read_run(parsed.repeat)
        content["settings"] = _opened(content["settings"], values)
    warn_of_versions(content["versions"])
    settings = Settings.of(content["settings"]).with_(**values).with_absolute_paths()
    is_same = not set(values) & set(names(["data", "held"]))
    expected = content["data"] if is_same else None
    return settings, expected


def _opened(settings, values):
    """Settings of a run to repeat; what it chose to suit another is open again.

    `run.json` does not tell what was chosen from what was given: the usual value counts
    as chosen.
    """
    from keras_seqattn.cli.training import USUAL_BATCH_TOKENS, usual_multiple

    _check_place(settings, values)
    usual = {
        "batch_tokens": ("batch_size", USUAL_BATCH_TOKENS),
        "pad_to_multiple": ("jit", usual_multiple(settings.get("jit"))),
    }
    is_open = {
        name: other in values and settings.get(name) == chosen
        for name, (other, chosen) in usual.items()
    }
    return {**settings, **{name: None for name in usual if is_open[name]}}


def _check_place(settings, values):
    """No run is repeated with data of another kind: its texts would not suit them."""
    from keras_seqattn.cli.settings_checks import PLACES

    [old, *_] = [name for name in PLACES if settings.get(name) is not None] or [None]
    others = [name for name in PLACES if name in values and name != old]
    if old and others:
        raise four_part_error(
            "train got data from another place than the run that it repeats",
            f"--{old}, as in the run.json",
            f"--{others[0]}",
            "Leave it out, or train without --repeat",
        )


def _check_folders(parsed):
    if bool(parsed.out) == bool(parsed.resume) or (parsed.resume and parsed.repeat):
        received = [n for n in ("out", "resume", "repeat") if getattr(parsed, n)]
        raise four_part_error(
            "train does not know where to write",
            "--out RUN, --resume RUN, or --repeat RUN.JSON with --out RUN",
            " and ".join(f"--{name}" for name in received) or "none of them",
            "Try --out runs/first",
        )


def _check_free(values, free, settings):
    """The model may be named again: one that is not of the zoo must be typed."""
    same = {"model"} if values.get("model") == settings.get("model") else set()
    fixed = [name for name in values if name not in {*free, *same}]
    if fixed:
        raise four_part_error(
            "train got other settings for a run that it goes on with",
            f"{', '.join(free)} at most, the others are those of the run",
            ", ".join(f"{name}={values[name]!r}" for name in fixed),
            "Leave them out; for a new run use --repeat RUN/run.json --out NEW",
        )


def _check_same(expected, data):
    if expected is not None and expected != data:
        changed = [split for split in data if expected.get(split) != data[split]]
        raise four_part_error(
            "train got data that are not those of the run",
            f"{_pairs(expected, changed)} with the checksums in run.json",
            f"{_pairs(data, changed)} with others",
            "Put the old files back, or start a new run with --out alone",
        )


def _pairs(data, splits):
    return " and ".join(f"{data[s]['pairs']} pairs for {s}" for s in splits)


def _last_words(run, how):
    if not run.translator.exists():
        return f"{how} before there was a translator"
    best = run.best()
    what = f"the best translator, {best}" if best else "the last weights, not validated"
    return (
        f"{how}: {run.translator} holds {what}\n"
        f"  try it:     seqattn translate {run.path}\n"
        f"  look at it: seqattn inspect {run.path}\n"
        f"              tensorboard --logdir {run.logs}\n"
        f"  go on:      seqattn train --resume {run.path}"
    )
