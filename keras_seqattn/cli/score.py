"""Log-probabilities of given translations, natural logarithm, one in each line."""

import math

from keras_seqattn.cli import judged, use_options

HELP = "log-probabilities of given translations"
EXAMPLES = """\
examples:
  seqattn score runs/de --source news.en --target news.de > scores
  seqattn score runs/de --pairs pairs.tsv
"""
_CHUNK = 1024


def configure(parser):
    """Adds its options."""
    use_options.add_translator(parser)
    parser.add_argument(
        "--batch-size", type=int, default=64, metavar="N", help="pairs at once"
    )
    judged.add_options(parser)


def run(parsed):
    """Scores."""
    from keras_seqattn.cli import translators
    from keras_seqattn.cli.progress import bar, note

    pairs, _, _ = judged.pairs_of(parsed)
    translator = translators.load(parsed.run)
    scores = []
    with bar("scoring", len(pairs)) as update:
        for start in range(0, len(pairs), _CHUNK):
            chunk = pairs[start : start + _CHUNK]
            scores += translator.score(chunk, parsed.batch_size, first=start)
            update(len(scores))
    for score in scores:
        print(f"{score:.4f}")
    tokens = _tokens(translator.target_text, pairs.target)
    surprise = -sum(scores) / max(tokens, 1)
    note(
        f"{len(pairs)} pairs, {tokens} target tokens with their ends, "
        f"log-probability {sum(scores):.2f}, perplexity {math.exp(surprise):.4f}"
    )


def _tokens(text, targets):
    lengths = text.encode(targets).row_lengths()
    return int(sum(lengths.numpy())) + len(targets)
