"""Show a run or a translator: settings, parameters, metrics, attention."""

from seqattn_command.options import add_search, add_translator

HELP = "show settings, vocabulary, parameters, metrics and attention of a run"
EXAMPLES = """\
examples:
  seqattn inspect runs/dates
  seqattn inspect runs/dates/translator
  seqattn inspect runs/de --vocabulary target        one token per line
  seqattn inspect runs/de --html page.html           its attention, for a browser
  seqattn inspect runs/de --html page.html --text "Ein Hund bellt." --beam 8

This also works for a run that is still training. The page is one file that needs no
network.
"""
COUNT = 8  # sentences of the validation set on the page


def add_options(parser):
    """Add the options of `seqattn inspect`."""
    parser.usage = "seqattn inspect RUN [options]"
    add_translator(parser)
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--vocabulary",
        choices=["source", "target"],
        help="print only the vocabulary of this side",
    )
    output.add_argument(
        "--html", metavar="FILE", help="write only a page that shows attention"
    )
    page = parser.add_argument_group("sentences of the page (only with --html)")
    page.add_argument(
        "--text",
        action="append",
        metavar="TEXT",
        help="sentence to translate; the option may be repeated",
    )
    page.add_argument(
        "--count",
        type=int,
        metavar="N",
        help="without --text: show the first N sentences of the validation set "
        f"(default: {COUNT})",
    )
    add_search(parser, has_batches=False)
