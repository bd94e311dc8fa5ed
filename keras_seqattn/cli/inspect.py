"""Show a run or a translator."""

import dataclasses
from pathlib import Path

from keras_seqattn.cli import attention_page
from keras_seqattn.cli.load_translator import translator_folder
from keras_seqattn.cli.run_folder import find_run
from keras_seqattn.cli.run_json import REPORT
from keras_seqattn.cli.run_states import read_history
from keras_seqattn.data.filter_report import Report
from keras_seqattn.text.processor import TextProcessor
from keras_seqattn.translator.translator import Translator
from seqattn_command.settings import Settings

_PIECES = 20  # tokens of a vocabulary that are shown


def run(options):
    """Print a description, print a vocabulary, or write a page."""
    attention_page.check(options)
    if options.html is not None:
        attention_page.write(options)
    elif options.vocabulary:
        folder = translator_folder(options.run)
        print("\n".join(_load_text(folder, options.vocabulary).vocabulary))
    else:
        _show(options.run)


def _show(path):
    run = find_run(path)
    try:
        folder = translator_folder(path)
    except ValueError:
        if run is None:
            raise
        folder = None
    if run is not None:
        _show_run(run)
    if folder is None:
        print("translator: none yet, the first validation writes it")
    else:
        _show_translator(folder)


def _show_run(run):
    content = run.content()
    print(content["command"])
    defaults = Settings()
    for field in dataclasses.fields(Settings):
        value = content["settings"].get(field.name)
        if value != getattr(defaults, field.name):
            print(f"  {field.name:18} {_in_words(value)}")
    print("  (the others have their defaults: seqattn train --help)\n")
    for split, about in content["data"].items():
        print(f"{split:11} {about['pairs']} pairs, sha256 {about['sha256'][:16]}")
    for split, about in content.get("left_out", {}).items():
        report = Report(*(about[name] for name in REPORT))
        print(f"{split:11} {report}")
    print("versions   ", _in_words(content["versions"]))
    print("machine    ", content.get("machine", "not recorded"), "\n")
    entries = read_history(run.history)
    if entries:
        print("\n".join(table_lines(entries)))
    print(f"best: {run.best() or 'no validation yet'}\n")


def _show_translator(folder):
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


def _load_text(folder, side):
    path = Path(folder) / f"{side}_text"
    return TextProcessor.load(path if path.exists() else Path(folder) / "source_text")


def _in_words(value):
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" for k, v in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def table_lines(rows):
    """Return a table of dicts of numbers; a column stands where it first appears."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([_cell(row.get(name)) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    ]


def _cell(value):
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.4g}"
