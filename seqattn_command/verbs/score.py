"""Compute log-probabilities of given translations, natural logarithm, one per line."""

from seqattn_command.options import add_evaluation_data, add_translator

HELP = "compute log-probabilities of given translations"
EXAMPLES = """\
examples:
  seqattn score runs/de --source news.en --target news.de > scores
  seqattn score runs/de --pairs pairs.tsv

Line n belongs to row n of the files; it is empty if that row is left out.
"""


def add_options(parser):
    """Add the options of `seqattn score`."""
    parser.usage = "seqattn score RUN [options]"
    add_translator(parser)
    parser.add_argument(
        "--batch-size",
        type=int,
        default=64,
        metavar="N",
        help="pairs in a batch (default: %(default)s)",
    )
    add_evaluation_data(parser)
