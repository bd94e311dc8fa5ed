"""Train a model to write sequences backwards, and show its attention.

python examples/reverse.py  # trains for a minute, then reverses
python examples/reverse.py --out docs/images/reverse_attention.png  # the picture

The model sees only sequences and their reversals. The attention learns by itself that
it must read the source from the end.
"""

import argparse
from typing import Any, NamedTuple

import keras
import numpy as np
from keras.initializers import RandomNormal

import keras_seqattn as ks

SYMBOLS = "ABCDEFGHIJKLMNOPQRST"
PAD, START, END, FIRST = range(4)  # the symbols are FIRST, FIRST + 1, ...
VOCABULARY = FIRST + len(SYMBOLS)
LONGEST, UNITS, EMBEDDING, BATCH = 20, 64, 32, 128
EPOCHS, STEPS = 20, 40  # an epoch is as many batches


class Pairs(NamedTuple):
    """Sequences and their reversals, padded at the end."""

    source: Any  # [batch, source]
    inputs: Any  # [batch, source + 1], start token and reversal
    target: Any  # [batch, source + 1], reversal and end token


def random_pairs(random, count, longest):
    """Return pairs of 1 to `longest` random symbols; all lengths are equally likely."""
    source, inputs, target = np.full((3, count, longest + 1), PAD, "int32")
    for row in range(count):
        n = random.integers(1, longest + 1)
        source[row, :n] = random.integers(FIRST, VOCABULARY, n)
        reversal = source[row, :n][::-1]
        inputs[row, : n + 1] = [START, *reversal]
        target[row, : n + 1] = [*reversal, END]
    return Pairs(source[:, :longest], inputs, target)


def batches(random, longest):
    """Yield new batches without end, for `model.fit`."""
    while True:
        pairs = random_pairs(random, BATCH, longest)
        yield {"source": pairs.source, "target": pairs.inputs}, pairs.target


def reverser(encoder, bridge, cell):
    """Return a model of these parts."""
    return ks.Seq2Seq(
        source_embedding=keras.layers.Embedding(
            VOCABULARY, EMBEDDING, embeddings_initializer=RandomNormal(stddev=1.0)
        ),
        encoder=encoder,
        bridge=bridge,
        target_embedding=keras.layers.Embedding(
            VOCABULARY, EMBEDDING, embeddings_initializer=RandomNormal(stddev=1.0)
        ),
        decoder=ks.AttentionDecoder(cell),
        head=ks.layers.OutputHead(VOCABULARY),
    )


def reverse(model, source):
    """Return what the model writes for each source (greedy search).

    Args:
        source: `[batch, source]`.

    Returns:
        tokens `[batch, source + 1]`, with the end token and then padding, and
        alignments `[batch, source + 1, source]`.
    """
    steps = source.shape[1] + 1
    decoded = ks.decode(model, source, ks.Greedy(), max_length=steps)
    tokens, alignments = decoded.tokens[:, 0].numpy(), decoded.alignments[:, 0].numpy()
    rest = ((0, 0), (0, steps - tokens.shape[1]))
    return np.pad(tokens, rest), np.pad(alignments, (*rest, (0, 0)))


class Measured(NamedTuple):
    """How well a model reverses."""

    exact: float  # share of the sequences without a wrong symbol
    agreement: float  # share of the symbols whose largest weight is at their origin


def measure(model, pairs):
    """Return the exact match of a model, and the agreement of its attention."""
    tokens, alignments = reverse(model, pairs.source)
    exact = np.all(tokens == pairs.target, axis=1)
    agrees = offsets(pairs.source, alignments) == 0
    return Measured(float(exact.mean()), float(agrees.mean()))


def offsets(source, alignments):
    """Return how far to the right of its origin the model looks, for each symbol.

    Symbol t of n comes from position n - 1 - t. The end token has no origin, and is
    left out.
    """
    lengths = np.sum(source != PAD, axis=1, keepdims=True)
    origin = lengths - 1 - np.arange(alignments.shape[1])
    return (alignments.argmax(axis=-1) - origin)[origin >= 0]


def train(model, random, longest=LONGEST, epochs=EPOCHS, steps=STEPS, **options):
    """Train with `compile` and `fit`, and return the history."""
    rate = keras.optimizers.schedules.CosineDecay(5e-3, decay_steps=epochs * steps)
    model.compile(
        optimizer=keras.optimizers.Adam(rate, global_clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    return model.fit(
        batches(random, longest),
        steps_per_epoch=steps,
        epochs=epochs,
        shuffle=False,  # the batches are random
        **options,
    )


def as_text(tokens):
    """Return the symbols before the end token or the padding."""
    symbols = dict(enumerate(SYMBOLS, start=FIRST))
    length = next((i for i, token in enumerate(tokens) if token in (PAD, END)), None)
    return "".join(symbols.get(int(token), "?") for token in tokens[:length])


def draw(path, source, written, alignment):
    """Draw a heat map: a row for each written symbol, a column for each read one."""
    from matplotlib.figure import Figure  # pip install ".[plot]"

    source, written = as_text(source), as_text(written)
    figure = Figure(figsize=(4.8, 4.2), dpi=110, layout="constrained")
    axes = figure.subplots()
    # From white to blue: readers who do not see colours can read it, too.
    weights = alignment[: len(written), : len(source)]
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(source)), source)
    axes.set_yticks(range(len(written)), written)
    axes.set(xlabel="source", ylabel="target, written from top to bottom")
    figure.colorbar(image, label="attention")
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", metavar="PNG", help="where to draw the attention")
    parser.add_argument("--smoke", action="store_true", help="a few steps only")
    args = parser.parse_args()

    keras.utils.set_random_seed(args.seed)
    random, unseen = np.random.default_rng(args.seed).spawn(2)
    model = reverser(
        ks.BiEncoder(UNITS, cell="gru"),
        ks.layers.DenseBridge(UNITS),
        ks.layers.BahdanauCell(
            UNITS, attention=ks.BahdanauAttention(UNITS), cell="gru"
        ),
    )
    size = {"epochs": 1, "steps": 2} if args.smoke else {}
    train(model, random, verbose=2, **size)

    pairs = random_pairs(unseen, 1000, LONGEST)
    exact, agreement = measure(model, pairs)
    print(
        f"{exact:.1%} reversed, {agreement:.1%} of the attention on the anti-diagonal"
    )
    tokens, alignments = reverse(model, pairs.source)
    for source, written in zip(pairs.source[:5], tokens, strict=False):
        print(f"{as_text(source):>{LONGEST}} -> {as_text(written)}")
    search = ks.BeamSearch(4, n_best=3)
    best = ks.decode(model, pairs.source[:1], search, max_length=LONGEST + 1)
    print("The three most probable of the first, with their log-probabilities:")
    for written, score in zip(best.tokens[0].numpy(), best.scores[0], strict=True):
        print(f"{float(score):{LONGEST}.3f} -> {as_text(written)}")
    if args.out:
        row = np.argmax(np.count_nonzero(pairs.source, axis=1))  # one of the longest
        draw(args.out, pairs.source[row], tokens[row], alignments[row])


if __name__ == "__main__":
    main()
