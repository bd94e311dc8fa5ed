"""The pairs with references that `evaluate` and `score` use."""

from keras_seqattn.cli.file_pairs import read_file_pairs
from keras_seqattn.cli.progress import note
from keras_seqattn.cli.run_folder import find_run
from keras_seqattn.cli.settings_checks import check_data
from keras_seqattn.cli.training_data import fingerprints, read_task
from keras_seqattn.errors import four_part_error
from seqattn_command.options import written_settings
from seqattn_command.settings import Settings, names


def evaluation_data(options):
    """Return the pairs that the options name, or else the pairs of the run.

    Returns:
        `Pairs`, and a list of references for each of them.
    """
    data, run = names(["data"]), find_run(options.run)
    values = {name: x for name, x in written_settings(options).items() if name in data}
    if values:
        settings = Settings(**values)
    elif run is not None:
        settings = run.settings()
    else:
        raise four_part_error(
            "seqattn got no pairs",
            "--source and --target, --pairs, --task or --corpus",
            f"none of them, and {str(options.run)!r}, which is not a run with its own "
            "data",
            "Name the files",
        )
    if settings.task is None and settings.corpus is None:
        _check_no_split(options)
        if not values:
            return _validation_set(run, settings)
    check_data(settings)
    return read_split(settings, options.split or "test")


def read_split(settings, split):
    """Return pairs and references: a split of a task or corpus, or all of the files."""
    if settings.task is not None or settings.corpus is not None:
        task, _ = read_task(settings)
        return getattr(task, split), task.references[split]
    pairs = read_file_pairs(settings)
    if pairs.report.dropped:
        note(f"data: {pairs.report}")
    return pairs, [[target] for target in pairs.target]


def in_rows_of_file(lines, pairs):
    """Yield a line for each row of the file: rows that are left out have empty lines.

    Args:
        lines: list of a string for each pair.
        pairs: `Pairs`.
    """
    lines, left_out = iter(lines), set(pairs.report.rows if pairs.report else ())
    for row in range(len(pairs) + len(left_out)):
        yield "" if row in left_out else next(lines)


def _check_no_split(options):
    if options.split is not None:
        raise four_part_error(
            "seqattn got a split of files",
            "--split only for a task or a corpus",
            f"--split {options.split} and files",
            "Leave it out: all pairs of the files are used",
        )


def _validation_set(run, settings):
    """Return the validation set: a run with files has no test set."""
    task, _ = read_task(settings)
    check_validation_set(run, task, "name other files with --source and --target")
    note("the validation set of the run, which chose its best translator:")
    return task.validation, task.references["validation"]


def check_validation_set(run, task, remedy):
    """Check that the validation set is still the one of the run.

    If the files have changed, another part of them is split off, and most of it would
    be pairs that the run was trained on. If only the training pairs have changed, for
    example because validation has its own files, the validation set is the same.
    """
    now = fingerprints(task)["validation"]
    then = run.content()["data"]["validation"]
    if now != then:
        raise four_part_error(
            "seqattn got another validation set than the one of the run",
            f"{then['pairs']} pairs with the checksum in {run.path / 'run.json'}",
            f"{now['pairs']} pairs with another checksum",
            f"Restore the old data, or {remedy}",
        )
