"""Translate the lines of a file, of standard input, or of the keyboard."""

from seqattn_command.options import SHIPPED_MODELS, add_search

HELP = "translate a file, standard input, or typed lines"
EXAMPLES = """\
examples:
  seqattn translate --model dates "third of May 2027"    with a shipped model
  seqattn translate runs/de "Ein Hund bellt."        a text: it has a blank, no path
  seqattn translate runs/dates                       type a line, read its translation
  seqattn translate runs/dates --alignments          and see the attention
  seqattn translate runs/de news.en > news.de
  cat news.en | seqattn translate runs/de --beam 1 > news.de
  seqattn translate runs/de news.en --n-best 3       line, log-probability, text
  seqattn translate runs/de news.en --json           one object for each line

An empty line has an empty translation, so line n of the output translates line n.
"""


def add_options(parser):
    """Add the options of `seqattn translate`."""
    parser.usage = (
        "seqattn translate (RUN [FILE | TEXT...] | --model NAME TEXT...) [options]"
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="RUN FILE",
        help="folder of a run or of a saved translator, and a file with one text per "
        "line (default: standard input), or texts with blanks; with --model any texts",
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        help=f"RUN, or a shipped model, before texts: {', '.join(SHIPPED_MODELS)}",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="write here, not to standard output"
    )
    parser.add_argument(
        "--encoding-errors",
        choices=["fatal", "skip"],
        default="fatal",
        help="lines that are not UTF-8: stop with an error, or write an empty "
        "translation (default: %(default)s)",
    )
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        "--alignments", action="store_true", help="draw the alignments with characters"
    )
    forms.add_argument(
        "--json",
        action="store_true",
        help="print text, score, tokens and alignment as JSON",
    )
    add_search(parser, has_n_best=True)
