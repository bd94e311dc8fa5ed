"""Learns to write sequences backwards, and shows where it looks while it does.

python examples/reverse.py  # trains for a minute, then reverses
python examples/reverse.py --out docs/images/reverse_attention.png  # the picture

All that the model sees are sequences and their reversals. That it has to read the
source from the end is what the attention finds out.
"""

import argparse
from typing import Any, NamedTuple

import keras
import numpy as np

import keras_seqattn as ksa

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
    """Sequences of 1 to `longest` random symbols; every length is as likely."""
    source, inputs, target = np.full((3, count, longest + 1), PAD, "int32")
    for row in range(count):
        n = random.integers(1, longest + 1)
        source[row, :n] = random.integers(FIRST, VOCABULARY, n)
        reversal = source[row, :n][::-1]
        inputs[row, : n + 1] = [START, *reversal]
        target[row, : n + 1] = [*reversal, END]
    return Pairs(source[:, :longest], inputs, target)


def batches(random, longest):
    """Fresh batches without end, for `model.fit`."""
    while True:
        pairs = random_pairs(random, BATCH, longest)
        yield {"source": pairs.source, "target": pairs.inputs}, pairs.target


def reverser(encoder, bridge, cell):
    """A model of these parts."""
    return ksa.Seq2Seq(
        source_embedding=keras.layers.Embedding(VOCABULARY, EMBEDDING),
        encoder=encoder,
        bridge=bridge,
        target_embedding=keras.layers.Embedding(VOCABULARY, EMBEDDING),
        decoder=ksa.AttentionDecoder(cell),
        head=ksa.layers.OutputHead(VOCABULARY),
    )


def reverse(model, source):
    """Each step reads the symbol that the last one found most likely (greedy).

    Args:
        source: `[batch, source]`.

    Returns:
        tokens `[batch, source + 1]`, the end token and then padding behind them, and
        alignments `[batch, source + 1, source]`.
    """
    steps = source.shape[1] + 1
    decoded = ksa.decode(model, source, ksa.Greedy(), max_length=steps)
    tokens, alignments = decoded.tokens[:, 0].numpy(), decoded.alignments[:, 0].numpy()
    rest = ((0, 0), (0, steps - tokens.shape[1]))
    return np.pad(tokens, rest), np.pad(alignments, (*rest, (0, 0)))


class Measured(NamedTuple):
    """How well a model reverses by itself."""

    exact: float  # share of the sequences that are right from first symbol to end token
    agreement: float  # share of the symbols written looking mostly at their origin


def measure(model, pairs):
    """Exact match of what the model writes by itself, and where it looks meanwhile."""
    tokens, alignments = reverse(model, pairs.source)
    exact = np.all(tokens == pairs.target, axis=1)
    found = offsets(pairs.source, alignments) == 0
    return Measured(float(exact.mean()), float(found.mean()))


def offsets(source, alignments):
    """How far to the right of its origin the model looked, for every symbol to write.

    Symbol t of n comes from position n - 1 - t; the end token comes from nowhere.
    """
    lengths = np.sum(source != PAD, axis=1, keepdims=True)
    origin = lengths - 1 - np.arange(alignments.shape[1])
    return (alignments.argmax(axis=-1) - origin)[origin >= 0]


def train(model, random, longest=LONGEST, epochs=EPOCHS, steps=STEPS, **options):
    """Stock Keras: `compile` and `fit`; returns the history."""
    rate = keras.optimizers.schedules.CosineDecay(5e-3, decay_steps=epochs * steps)
    model.compile(
        optimizer=keras.optimizers.Adam(rate, global_clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    return model.fit(
        batches(random, longest),
        steps_per_epoch=steps,
        epochs=epochs,
        shuffle=False,  # random already
        **options,
    )


def as_text(tokens):
    """The symbols before the end token or the padding."""
    symbols = dict(enumerate(SYMBOLS, start=FIRST))
    length = next((i for i, token in enumerate(tokens) if token in (PAD, END)), None)
    return "".join(symbols.get(int(token), "?") for token in tokens[:length])


def draw(path, source, written, alignment):
    """Heat map: a row for each symbol written, a column for each one read."""
    from matplotlib.figure import Figure  # pip install "keras_seqattn[plot]"

    source, written = as_text(source), as_text(written)
    figure = Figure(figsize=(4.8, 4.2), dpi=110, layout="constrained")
    axes = figure.subplots()
    # White to blue: dark is much, whatever colours the reader can tell apart.
    shown = alignment[: len(written), : len(source)]
    image = axes.imshow(shown, cmap="Blues", vmin=0, vmax=1)
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
        ksa.BiEncoder(UNITS, cell="gru"),
        ksa.layers.DenseBridge(UNITS),
        ksa.layers.BahdanauCell(
            UNITS, attention=ksa.BahdanauAttention(UNITS), cell="gru"
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
    search = ksa.BeamSearch(4, n_best=3)
    best = ksa.decode(model, pairs.source[:1], search, max_length=LONGEST + 1)
    print("The three most probable of the first, with their log-probabilities:")
    for written, score in zip(best.tokens[0].numpy(), best.scores[0], strict=True):
        print(f"{float(score):{LONGEST}.3f} -> {as_text(written)}")
    if args.out:
        row = np.argmax(np.count_nonzero(pairs.source, axis=1))  # a longest one
        draw(args.out, pairs.source[row], tokens[row], alignments[row])


if __name__ == "__main__":
    main()
