"""Options that verbs share which use a translator."""

from keras_seqattn.shipped_models import shipped_names


def add_translator(parser):
    """Which translator."""
    parser.add_argument(
        "run",
        metavar="RUN",
        help="folder of a run, or of a saved translator; or a shipped one: "
        f"{shipped_names()}",
    )


def add_search(parser, n_best=False, batches=True):
    """How it searches."""
    group = parser.add_argument_group("search (by default the translator's own)")
    group.add_argument("--beam", type=int, metavar="K", help="width; 1: greedy, fast")
    group.add_argument(
        "--length-penalty", type=float, metavar="X", help="higher: longer translations"
    )
    if batches:
        group.add_argument(
            "--batch-size", type=int, default=64, metavar="N", help="texts at once"
        )
    if n_best:
        group.add_argument(
            "--n-best",
            type=int,
            metavar="N",
            help="the N best of each (default: the best)",
        )
