"""Translates the lines of a file, of standard input, or what is typed."""

import json
import sys

from keras_seqattn.cli import use_options
from keras_seqattn.errors import four_part_error
from keras_seqattn.shipped_models import shipped_names

HELP = "translate a file, standard input, or what is typed"
EXAMPLES = """\
examples:
  seqattn translate --model dates "third of May 2027"    a model that is shipped
  seqattn translate runs/dates                       type a line, read its translation
  seqattn translate runs/dates --alignments          and see what was looked at
  seqattn translate runs/de news.en > news.de
  cat news.en | seqattn translate runs/de --beam 1 > news.de
  seqattn translate runs/de news.en --n-best 3       line, log-probability, text
  seqattn translate runs/de news.en --json           one object for each line

An empty line has an empty translation: line n belongs to line n.
"""
_CHUNK = 4096


def configure(parser):
    """Adds its options."""
    parser.usage = "seqattn translate (RUN [FILE] | --model NAME TEXT...) [options]"
    parser.add_argument(
        "given",
        nargs="*",
        metavar="RUN FILE",
        help="folder of a run, or of a saved translator; a text in each line "
        "(default: standard input). With --model: texts",
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        help=f"instead of RUN, a model that is shipped: {shipped_names()}",
    )
    parser.add_argument("--output", metavar="FILE", help="instead of standard output")
    parser.add_argument(
        "--encoding-errors",
        choices=["fatal", "skip"],
        default="fatal",
        help="lines that are not UTF-8: an error, or an empty translation",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--alignments", action="store_true", help="draw what was looked at"
    )
    shown.add_argument(
        "--json", action="store_true", help="text, score, tokens, alignment as JSON"
    )
    use_options.add_search(parser, n_best=True)


def run(parsed):
    """Translates."""
    from keras_seqattn.cli import text_output, translators

    model, file, texts = _asked(parsed)
    is_typed = not texts and file == "-" and sys.stdin.isatty()
    text_output.check(parsed.output)
    _check_typed(is_typed, parsed)
    search = parsed.beam, parsed.n_best, parsed.length_penalty
    if texts:
        _translate(translators.load(model, *search), texts, parsed)
    elif is_typed:
        _converse(translators.load(model, *search), parsed)
    else:
        texts = _read(file, parsed.encoding_errors)
        _translate(translators.load(model, *search), texts, parsed)


def _asked(parsed):
    """Which translator, which file, which texts."""
    if parsed.model is not None:
        return parsed.model, "-", parsed.given
    if 1 <= len(parsed.given) <= 2:
        model, file = [*parsed.given, "-"][:2]
        return model, file, []
    raise four_part_error(
        "translate does not know what to translate with"
        if not parsed.given
        else "translate got too many files",
        "RUN, or RUN and one FILE; or --model NAME and texts",
        " ".join(map(repr, parsed.given)) or "neither RUN nor --model",
        "Name the folder of a run first, or write --model NAME before texts",
    )


def _check_typed(is_typed, parsed):
    """What is typed is answered at once, line by line, and not kept."""
    if is_typed and parsed.output is not None:
        raise four_part_error(
            "translate got an output for what is typed",
            "--output with a FILE of texts, or with texts from a pipe",
            f"--output {parsed.output} and a terminal",
            "Name a file to translate, or leave --output out",
        )


def _read(file, encoding_errors):
    from keras_seqattn.cli.progress import note
    from keras_seqattn.cli.text_lines import read_lines

    texts, broken = read_lines(file, encoding_errors)
    if broken:
        lines = ", ".join(map(str, broken[:5])) + (", ..." if broken[5:] else "")
        note(f"{len(broken)} lines are not UTF-8 and stay empty: {lines}")
    return texts


def _translate(translator, texts, parsed):
    from keras_seqattn.cli import text_output
    from keras_seqattn.cli.progress import bar

    with bar("translating", len(texts)) as update:
        lines = _translated(translator, texts, parsed, update)
        if parsed.output is None:
            sys.stdout.writelines(f"{line}\n" for line in lines)
        else:
            text_output.write(parsed.output, lines)


def _translated(translator, texts, parsed, update):
    """Lines, some thousand texts at a time: what is done is written, and forgotten."""
    for start in range(0, len(texts), _CHUNK):
        found = translator.translate(
            texts[start : start + _CHUNK],
            parsed.batch_size,
            lambda done, start=start: update(start + done),
            first=start,
        )
        for number, translation in enumerate(found, start=start + 1):
            yield from _lines(number, translation, parsed)
        sys.stdout.flush()


def _converse(translator, parsed):
    """A line in, its translation out, until Ctrl-D."""
    import contextlib

    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  arrow keys and a history for `input`

    from keras_seqattn.cli.progress import note

    note("Type a text and Enter; Ctrl-D ends.")
    with contextlib.suppress(EOFError):
        number = 0
        while True:
            text = input("> ")
            number += 1
            for line in _lines(number, translator(text), parsed):
                print(line)
    note()


def _lines(number, translation, parsed):
    """A translation as it is printed."""
    found = [translation, *translation.alternatives]
    if parsed.json:
        yield json.dumps(_as_dict(translation), ensure_ascii=False)
    elif parsed.alignments:
        from keras_seqattn.text.terminal_heat_map import heat_map

        for each in found:
            source = [token.piece for token in each.source_tokens]
            yield f"{each.text}  ({each.score:.2f})"
            yield heat_map(source, each.target_tokens, each.alignment)
    elif (parsed.n_best or 1) > 1:
        for each in found:
            yield f"{number}\t{each.score:.4f}\t{each.text}"
    else:
        yield translation.text


def _as_dict(translation):
    found = {
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
        found["alternatives"] = [_as_dict(each) for each in translation.alternatives]
    return found
