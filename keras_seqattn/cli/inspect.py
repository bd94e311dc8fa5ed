"""Shows what a run or a translator is: settings, parameters, metrics, attention."""

import dataclasses
from pathlib import Path

from keras_seqattn.cli import attention_page, use_options
from keras_seqattn.cli.settings import Settings

HELP = "settings, vocabulary, parameters, metrics and attention of a run"
EXAMPLES = """\
examples:
  seqattn inspect runs/dates
  seqattn inspect runs/dates/translator
  seqattn inspect runs/de --vocabulary target        one token in each line
  seqattn inspect runs/de --html page.html           what it looks at, in a browser
  seqattn inspect runs/de --html page.html --text "Ein Hund bellt." --beam 8

A run may be looked at while it is training. The page is one file, without network.
"""
_PIECES = 20  # of a vocabulary that are shown


def configure(parser):
    """Adds its options."""
    use_options.add_translator(parser)
    alone = parser.add_mutually_exclusive_group()
    alone.add_argument(
        "--vocabulary", choices=["source", "target"], help="print it, nothing else"
    )
    alone.add_argument(
        "--html", metavar="FILE", help="write a page with attention, nothing else"
    )
    attention_page.add_options(parser)


def run(parsed):
    """Shows it."""
    attention_page.check(parsed)
    if parsed.html is not None:
        return attention_page.write(parsed)
    _show(parsed)


def _show(parsed):
    from keras_seqattn.cli import translators
    from keras_seqattn.cli.run_folder import run_of

    run = run_of(parsed.run)
    try:
        folder = translators.folder_of(parsed.run)
    except ValueError:
        if run is None or parsed.vocabulary:
            raise
        folder = None
    if parsed.vocabulary:
        print("\n".join(_text(folder, parsed.vocabulary).vocabulary))
        return
    if run is not None:
        _show_run(run)
    if folder is None:
        print("translator: none yet, the first validation makes it")
    else:
        _show_translator(folder)


def _show_run(run):
    content = run.content()
    print(content["command"])
    usual = Settings()
    for field in dataclasses.fields(Settings):
        value = content["settings"].get(field.name)
        if value != getattr(usual, field.name):
            print(f"  {field.name:18} {_said(value)}")
    print("  (the others have their defaults: seqattn train --help)\n")
    for split, about in content["data"].items():
        print(f"{split:11} {about['pairs']} pairs, sha256 {about['sha256'][:16]}")
    print("versions   ", _said(content["versions"]))
    print("machine    ", content.get("machine", "not written down"), "\n")
    _show_history(run)


def _show_history(run):
    """The epochs so far, and the best validation."""
    from keras_seqattn.cli import history
    from keras_seqattn.cli.table import lines

    entries = history.read(run.history)
    if entries:
        print("\n".join(lines(entries)))
    print(f"best: {run.best() or 'nothing validated yet'}\n")


def _show_translator(folder):
    from keras_seqattn.translator.translator import Translator

    translator = Translator.load(folder)
    print(f"translator: {folder}")
    print(f"  search      {translator.search}")
    print(f"  max_length  {translator.pipeline.max_length}")
    for side in ("source", "target"):
        text = getattr(translator, f"{side}_text")
        options = ", ".join(f"{k}={v!r}" for k, v in text.get_config().items() if v)
        kind = f"{type(text).__name__}({options})"
        pieces = " ".join(map(repr, text.vocabulary[4 : 4 + _PIECES]))
        print(f"  {side}      {kind}, {text.vocabulary_size} tokens: {pieces} ...")
    print()
    translator.model.summary()


def _text(folder, side):
    from keras_seqattn.text.processor import TextProcessor

    path = Path(folder) / f"{side}_text"
    return TextProcessor.load(path if path.exists() else Path(folder) / "source_text")


def _said(value):
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" for k, v in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
