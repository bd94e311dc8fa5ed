"""Train a translator in the folder of a run."""

import errno
import shlex
import sys
from pathlib import Path

from keras_seqattn.cli import training
from keras_seqattn.cli.init_from import complete_model, load_trained
from keras_seqattn.cli.progress import note
from keras_seqattn.cli.run_folder import CHANGEABLE, RunFolder
from keras_seqattn.cli.run_json import read_run, settings_from_dict, warn_of_versions
from keras_seqattn.cli.settings_checks import SOURCES
from keras_seqattn.cli.training_data import fingerprints, read_task
from keras_seqattn.errors import four_part_error
from seqattn_command.command import RunFailed
from seqattn_command.options import written_settings
from seqattn_command.settings import Settings, names

_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


def run(options):
    """Lock the folder of the run and train; returns the exit code."""
    sys.stdout.reconfigure(line_buffering=True)  # so that a log file grows line by line
    _check_folders(options)
    run = RunFolder(options.resume or options.out)
    if options.resume:
        run.content()  # if it has no run.json, fail before the folder is created
    elif not run.exists:
        run.check_path()
    with run.locked(options.command):
        run.repair()
        return _train(options, run)


def _train(options, run):
    """Train in a locked folder; returns the exit code."""
    settings, expected = settings_and_data(options, run)
    training.check(settings)
    trained = None
    if settings.init_from is not None:
        trained = load_trained(settings, run)
        settings = complete_model(settings)
    if options.resume and run.epochs() >= settings.epochs:
        how = _resume_command(run, settings)
        note(f"The run already has {run.epochs()} epochs. To train on: {how}")
    task, reports = read_task(settings)
    for split, report in reports.items():
        if report.dropped:
            note(f"{'data' if split == 'train' else split}: {report}")
    note(f"{len(task.train)} pairs for training, {len(task.validation)} for validation")
    settings = training.complete(settings, task, trained)
    training.check_model(settings)
    data = fingerprints(task)
    run.about = {"command": options.command, "data": data, "left_out": reports}
    if not options.resume:
        run.check_free(settings)
    _check_same_data(expected, data)
    try:
        training.train(settings, task, run, trained)
    except KeyboardInterrupt:
        note(_final_message(run, settings, "stopped"))
        if settings.average:
            note("The mean of the last weights is tried when training is complete.")
        return 130
    except (FloatingPointError, RunFailed):
        note(_final_message(run, settings, "failed"))
        raise
    except OSError as error:
        if error.errno not in _DISK_ERRORS:
            raise
        raise four_part_error(
            "train could not write to the disk",
            "free space on a disk that can be written to",
            f"{error.strerror!r} in {str(run.path)!r}",
            "The files saved before are unchanged. Free disk space, then call the "
            "command again, with --resume if there is a run.json",
            kind=RunFailed,
        ) from error
    note(_final_message(run, settings, "done"))
    return 0


def settings_and_data(options, run):
    """Return the settings, and the fingerprints of the data that they must have.

    The fingerprints are None if any data may be used.
    """
    values = written_settings(options)
    if "text" in options:
        values = {"source_text": options.text, "target_text": options.text, **values}
    if not options.resume and not options.repeat:
        return Settings(**values).with_absolute_paths(), None
    if options.resume:
        content = run.content()
        _check_changeable(values, content["settings"])
    else:
        path = Path(options.repeat)
        content = read_run(path / "run.json" if path.is_dir() else path)
        content["settings"] = _without_dependent(content["settings"], values)
    warn_of_versions(content["versions"])
    settings = settings_from_dict(content["settings"])
    settings = settings.with_(**values).with_absolute_paths()
    is_same = not set(values) & set(names(["data", "held"]))
    return settings, content["data"] if is_same else None


def _without_dependent(settings, values):
    """Return settings to repeat, without those whose value depends on a changed one.

    A batch is as large as the user writes now, in pairs or in tokens. `run.json` does
    not say which settings were written as options: a `pad_to_multiple` that training
    would choose counts as chosen by training.
    """
    _check_source(settings, values)
    changed = dict(settings)
    if "batch_size" in values or "batch_tokens" in values:
        changed |= {"batch_size": None, "batch_tokens": None}
    multiple = training.default_multiple(settings.get("jit"))
    if "jit" in values and settings.get("pad_to_multiple") == multiple:
        changed["pad_to_multiple"] = None
    return changed


def _check_source(settings, values):
    """Check that the kind of data is the same, because the text settings suit it."""
    [old, *_] = [name for name in SOURCES if settings.get(name) is not None] or [None]
    others = [name for name in SOURCES if name in values and name != old]
    if old and others:
        raise four_part_error(
            "train got another kind of data than the run that it repeats",
            f"--{old}, as in the run.json",
            f"--{others[0]}",
            "Leave it out, or train without --repeat",
        )


def _check_folders(options):
    if bool(options.out) == bool(options.resume) or (options.resume and options.repeat):
        written = [n for n in ("out", "resume", "repeat") if getattr(options, n)]
        raise four_part_error(
            "train got no usable folder",
            "--out RUN, --resume RUN, or --repeat OLD --out RUN",
            " and ".join(f"--{name}" for name in written) or "none of them",
            "Try --out runs/first",
        )


def _check_changeable(values, settings):
    """Check that a resumed run may change these settings.

    The same model may be named again, because a model outside of the zoo must be typed.
    """
    same = {"model"} if values.get("model") == settings.get("model") else set()
    fixed = [name for name in values if name not in {*CHANGEABLE, *same}]
    if fixed:
        raise four_part_error(
            "train got settings that a resumed run cannot change",
            f"only {', '.join(CHANGEABLE)}",
            ", ".join(f"{name}={values[name]!r}" for name in fixed),
            "Leave them out; for a new run use --repeat RUN/run.json --out NEW",
        )


def _check_same_data(expected, data):
    if expected is not None and expected != data:
        changed = [split for split in data if expected.get(split) != data[split]]
        raise four_part_error(
            "train got other data than the run",
            f"{_pairs(expected, changed)} with the checksums in run.json",
            f"{_pairs(data, changed)} with other checksums",
            "Restore the old files, or start a new run with --out alone",
        )


def _pairs(data, splits):
    return " and ".join(f"{data[s]['pairs']} pairs for {s}" for s in splits)


def _final_message(run, settings, state):
    if not run.translator.exists():
        return f"{state} before the first translator was saved"
    best = run.best()
    weights = (
        f"the best translator, {best}" if best else "the last weights, unvalidated"
    )
    return (
        f"{state}: {run.translator} holds {weights}\n"
        f"  try it:     seqattn translate {run.path}\n"
        f"  look at it: seqattn inspect {run.path}\n"
        f"              tensorboard --logdir {run.logs}\n"
        f"  continue:   {_resume_command(run, settings)}"
    )


def _resume_command(run, settings):
    """Return the command that continues the run, with more epochs if it is complete."""
    done = run.epochs()
    more = ["--epochs", str(2 * done)] if done >= settings.epochs else []
    return shlex.join(["seqattn", "train", "--resume", str(run.path), *more])
