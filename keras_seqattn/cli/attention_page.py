"""The page with attention that `seqattn inspect --html` writes."""

import dataclasses

from keras_seqattn.cli.evaluation_data import check_validation_set
from keras_seqattn.cli.load_translator import load_translator
from keras_seqattn.cli.progress import note
from keras_seqattn.cli.run_folder import find_run
from keras_seqattn.cli.text_files import check_output, write_lines
from keras_seqattn.cli.training_data import read_task
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.errors import four_part_error
from keras_seqattn.pictures.probe import Probe
from keras_seqattn.translator.page import page
from seqattn_command.verbs.inspect import COUNT

HYPOTHESES = 5  # the most that the page shows of a beam
_OPTIONS = ("text", "count", "beam", "length_penalty")


def check(options):
    """Check that no option would be ignored."""
    written = [name for name in _OPTIONS if getattr(options, name) is not None]
    if options.html is None and written:
        option = written[0].replace("_", "-")
        raise _contradiction(f"--{option} without", "Add --html")
    if options.text and options.count is not None:
        raise _contradiction("--text and --count", "Choose one of them")
    if options.count is not None and options.count < 1:
        raise _contradiction(f"--count {options.count}", "Count from 1")


def write(options):
    """Translate the sentences and write the page."""
    check_output(options.html, "--html")
    texts, references = (options.text, None) if options.text else _sentences(options)
    translator = load_translator(
        options.run, options.beam, length_penalty=options.length_penalty
    )
    search = _with_several_hypotheses(translator.search)
    probe = Probe(translator, search, texts, references, alignments=[])
    pictures = probe.pictures()
    write_lines(options.html, [page(pictures, f"Attention: {options.run}")])
    note(f"{options.html} shows {len(pictures)} sentences; open it with a browser.")


def _sentences(options):
    """Return the first sources and targets of the run's validation set."""
    run = find_run(options.run)
    if run is None:
        raise four_part_error(
            "inspect got no sentences for its page",
            "--text TEXT, or a run, which has a validation set",
            f"{str(options.run)!r}, a translator alone",
            "Add one or more sentences with --text",
        )
    task, _ = read_task(run.settings())
    check_validation_set(run, task, "name a sentence with --text")
    count = options.count or COUNT
    return task.validation.source[:count], task.validation.target[:count]


def _with_several_hypotheses(search):
    """Return the same search, which returns the best few hypotheses of a beam."""
    if not isinstance(search, BeamSearch):
        return search
    return dataclasses.replace(search, n_best=min(search.width, HYPOTHESES))


def _contradiction(received, remedy):
    return four_part_error(
        "inspect got options that do not go together",
        "--html FILE, with --text TEXT (once or more) or --count N, 1 or more",
        received,
        remedy,
    )
