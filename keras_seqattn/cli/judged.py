"""What a translator is judged by: options, and the pairs that they name."""

from keras_seqattn.cli.settings import Settings, names
from keras_seqattn.cli.train_options import add_settings, given
from keras_seqattn.errors import four_part_error

SPLITS = ("test", "validation")


def add_options(parser):
    """Which pairs."""
    add_settings(parser, ["data"])
    parser.add_argument(
        "--split",
        choices=SPLITS,
        help="of a task or a corpus (default: test)",
    )


def pairs_of(parsed):
    """Pairs, references, and settings; by default the data of the run itself."""
    from keras_seqattn.cli import data_choice, settings_checks
    from keras_seqattn.cli.run_folder import run_of

    of_data, run = names(["data"]), run_of(parsed.run)
    values = {name: x for name, x in given(parsed).items() if name in of_data}
    if values:
        settings = Settings(**values)
    elif run is not None:
        settings = Settings.of(run.content()["settings"])
    else:
        raise four_part_error(
            "seqattn got no pairs",
            "--source and --target, --pairs, --task or --corpus",
            f"none of them, and {str(parsed.run)!r}, which is no run with data of its "
            "own",
            "Name the files",
        )
    if settings.task is None and settings.corpus is None:
        _check_no_split(parsed)
        if not values:
            return *_held_out(run, settings), settings
    settings_checks.check_data(settings)
    return *data_choice.to_judge(settings, parsed.split or "test"), settings


def _check_no_split(parsed):
    if parsed.split is not None:
        raise four_part_error(
            "seqattn got a split of files",
            "--split only for a task or a corpus",
            f"--split {parsed.split} and files",
            "Leave it out: all their pairs are taken",
        )


def _held_out(run, settings):
    """Files have no test set: what the best translator was chosen by."""
    from keras_seqattn.cli import data_choice
    from keras_seqattn.cli.progress import note

    task, _ = data_choice.read(settings)
    check_held_out(run, task, "name others with --source and --target")
    note("the validation set of the run, by which its translator was chosen:")
    return task.validation, task.references["validation"]


def check_held_out(run, task, remedy):
    """Files that have changed are split in another way.

    Most of what is held out now would be what the run has learned from. (Where only the
    pairs to learn from are others, as with files of their own for the validation, what
    is held out is still that.)
    """
    from keras_seqattn.cli import data_choice

    now = data_choice.fingerprints(task)["validation"]
    then = run.content()["data"]["validation"]
    if now != then:
        raise four_part_error(
            "seqattn got a validation set that is not that of the run",
            f"{then['pairs']} pairs with the checksum in {run.path / 'run.json'}",
            f"{now['pairs']} pairs with another",
            f"Put the old data back, or {remedy}",
        )
