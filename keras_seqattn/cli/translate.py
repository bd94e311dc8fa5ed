"""Translate the lines of a file, of standard input, or of the keyboard."""

import contextlib
import json
import sys

from keras_seqattn.cli.load_translator import load_translator
from keras_seqattn.cli.progress import bar, note
from keras_seqattn.cli.text_files import check_output, write_lines
from keras_seqattn.cli.translate_inputs import read_texts, read_words
from keras_seqattn.errors import four_part_error
from keras_seqattn.text.terminal_heat_map import heat_map

_CHUNK = 4096


def run(options):
    """Translate texts of the command line, of a file, or line by line."""
    model, file, texts = read_words(options)
    is_dialog = not texts and file == "-" and sys.stdin.isatty()
    check_output(options.output)
    if is_dialog:
        _check_dialog(options)
    elif not texts:
        texts = read_texts(file, options.encoding_errors)
    translator = load_translator(
        model, options.beam, options.n_best, options.length_penalty
    )
    if is_dialog:
        _translate_typed_lines(translator, options)
    else:
        _translate(translator, texts, options)


def _check_dialog(options):
    """Check that there is no output file: typed lines are answered one by one."""
    if options.output is not None:
        raise four_part_error(
            "translate got an output file for typed lines",
            "--output with a FILE of texts, or with texts from a pipe",
            f"--output {options.output} and a terminal",
            "Name a file to translate, or leave --output out",
        )


def _translate(translator, texts, options):
    with bar("translating", len(texts)) as update:
        lines = _output_lines(translator, texts, options, update)
        if options.output is None:
            sys.stdout.writelines(f"{line}\n" for line in lines)
        else:
            write_lines(options.output, lines)


def _output_lines(translator, texts, options, update):
    """Yield the lines of all texts, in chunks, so that results are written early."""
    for start in range(0, len(texts), _CHUNK):
        translations = translator.translate(
            texts[start : start + _CHUNK],
            options.batch_size,
            lambda done, start=start: update(start + done),
            first=start,
        )
        for number, translation in enumerate(translations, start=start + 1):
            yield from _lines(number, translation, options)
        sys.stdout.flush()


def _translate_typed_lines(translator, options):
    """Read a line, print its translation, and repeat until Ctrl-D."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  importing it gives `input` arrow keys and history

    note("Type a text and Enter; Ctrl-D ends.")
    with contextlib.suppress(EOFError):
        number = 0
        while True:
            text = input("> ")
            number += 1
            for line in _lines(number, translator(text), options):
                print(line)
    note()


def _lines(number, translation, options):
    """Yield the lines that are printed for a translation."""
    translations = [translation, *translation.alternatives]
    if options.json:
        yield json.dumps(_as_dict(translation), ensure_ascii=False)
    elif options.alignments:
        for each in translations:
            source = [token.piece for token in each.source_tokens]
            yield f"{each.text}  ({each.score:.2f})"
            yield heat_map(source, each.target_tokens, each.alignment)
    elif (options.n_best or 1) > 1:
        for each in translations:
            yield f"{number}\t{each.score:.4f}\t{each.text}"
    else:
        yield translation.text


def _as_dict(translation):
    fields = {
        "source": translation.source,
        "text": translation.text,
        "score": translation.score,
        "ranking": translation.ranking,
        "source_tokens": [list(token) for token in translation.source_tokens],
        "target_tokens": translation.target_tokens,
        "alignment": [
            [round(float(x), 4) for x in row] for row in translation.alignment
        ],
    }
    if translation.alternatives:
        fields["alternatives"] = [_as_dict(each) for each in translation.alternatives]
    return fields
