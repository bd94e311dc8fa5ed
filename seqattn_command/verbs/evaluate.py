"""Translate a test set, and compare the translations with its references."""

from seqattn_command.options import add_evaluation_data, add_search, add_translator

HELP = "translate a test set and compute metrics"
EXAMPLES = """\
examples:
  seqattn evaluate runs/dates                        the test set of its own task
  seqattn evaluate runs/de --source test.en --target test.de --metric bleu chrf
  seqattn evaluate runs/g2p --metric wer per --beam 10 --output test.hyp
"""


def add_options(parser):
    """Add the options of `seqattn evaluate`."""
    parser.usage = "seqattn evaluate RUN [options]"
    add_translator(parser)
    parser.add_argument(
        "--metric",
        nargs="+",
        metavar="NAME",
        help="bleu, tokenized_bleu, chrf, exact_match, wer, per "
        "(default: the metrics of the run)",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="write the translations to a file; line n is of row n, or empty if that "
        "row is left out",
    )
    parser.add_argument("--json", action="store_true", help="print the metrics as JSON")
    add_evaluation_data(parser)
    add_search(parser)
