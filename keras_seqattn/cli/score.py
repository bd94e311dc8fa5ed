"""Print the log-probabilities of given translations."""

import math

from keras_seqattn.cli.evaluation_data import evaluation_data, in_rows_of_file
from keras_seqattn.cli.load_translator import load_translator
from keras_seqattn.cli.progress import bar, note

_CHUNK = 1024


def run(options):
    """Compute and print the log-probabilities, and the perplexity of all pairs."""
    pairs, _ = evaluation_data(options)
    translator = load_translator(options.run)
    scores = []
    with bar("scoring", len(pairs)) as update:
        for start in range(0, len(pairs), _CHUNK):
            chunk = pairs[start : start + _CHUNK]
            scores += translator.score(chunk, options.batch_size, first=start)
            update(len(scores))
    for line in in_rows_of_file([f"{score:.4f}" for score in scores], pairs):
        print(line)
    tokens = _count_tokens(translator.target_text, pairs.target)
    cross_entropy = -sum(scores) / max(tokens, 1)
    note(
        f"{len(pairs)} pairs, {tokens} target tokens, end tokens included, "
        f"log-probability {sum(scores):.2f}, perplexity {math.exp(cross_entropy):.4f}"
    )


def _count_tokens(text, targets):
    lengths = text.encode(targets).row_lengths()
    return int(sum(lengths.numpy())) + len(targets)
