"""The page with attention that `seqattn inspect --html` writes."""

import dataclasses

from keras_seqattn.cli import use_options
from keras_seqattn.errors import four_part_error

COUNT = 8  # sentences of the validation set
HYPOTHESES = 5  # of a beam, at most
_OPTIONS = ("text", "count", "beam", "length_penalty")


def add_options(parser):
    """What it shows."""
    group = parser.add_argument_group("sentences of the page (only with --html)")
    group.add_argument(
        "--text",
        action="append",
        metavar="TEXT",
        help="a sentence to translate; may be given several times",
    )
    group.add_argument(
        "--count",
        type=int,
        metavar="N",
        help=f"without --text: the first N of the validation set (default: {COUNT})",
    )
    use_options.add_search(parser, batches=False)


def check(parsed):
    """No option that nothing would use."""
    given = [name for name in _OPTIONS if getattr(parsed, name) is not None]
    if parsed.html is None and given:
        raise _contradiction(f"--{given[0].replace('_', '-')} without", "add --html")
    if parsed.text and parsed.count is not None:
        raise _contradiction("--text and --count", "choose one of them")
    if parsed.count is not None and parsed.count < 1:
        raise _contradiction(f"--count {parsed.count}", "count from 1")


def write(parsed):
    """Translates the sentences and writes the page."""
    from keras_seqattn.cli import text_output, translators
    from keras_seqattn.cli.progress import note
    from keras_seqattn.pictures.probe import Probe
    from keras_seqattn.translator.page import page

    text_output.check(parsed.html, "--html")
    texts, references = (parsed.text, None) if parsed.text else _validation(parsed)
    penalty = parsed.length_penalty
    translator = translators.load(parsed.run, parsed.beam, length_penalty=penalty)
    search = _several(translator.search)
    pictures = Probe(translator, search, texts, references).pictures()
    text_output.write(parsed.html, [page(pictures, f"Attention: {parsed.run}")])
    note(f"{len(pictures)} sentences are in {parsed.html}; open it with a browser.")


def _validation(parsed):
    """The first sources and targets of the pairs by which a run is judged."""
    from keras_seqattn.cli import data_choice
    from keras_seqattn.cli.judged import check_held_out
    from keras_seqattn.cli.run_folder import run_of
    from keras_seqattn.cli.settings import Settings

    run = run_of(parsed.run)
    if run is None:
        raise four_part_error(
            "inspect got no sentences for its page",
            "--text TEXT, or a run, which has a validation set",
            f"{str(parsed.run)!r}, a translator alone",
            "Name a sentence, or several",
        )
    task, _ = data_choice.read(Settings.of(run.content()["settings"]))
    check_held_out(run, task, "name a sentence with --text")
    count = parsed.count or COUNT
    return task.validation.source[:count], task.validation.target[:count]


def _several(search):
    """The same search, but it returns the best few of its beam."""
    from keras_seqattn.decoding.beam import BeamSearch

    if not isinstance(search, BeamSearch):
        return search
    return dataclasses.replace(search, n_best=min(search.width, HYPOTHESES))


def _contradiction(received, remedy):
    return four_part_error(
        "inspect got options that do not go together",
        "--html FILE, and with it --text TEXT (often) or --count N, 1 or more",
        received,
        remedy[0].upper() + remedy[1:],
    )
