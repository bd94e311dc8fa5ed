"""Compare the scores and the windows of Luong et al. 2015 on one task.

python examples/luong_variants.py                   # two minutes on two cores
python examples/luong_variants.py --out scores.png  # the table as bars, too
python examples/luong_variants.py --smoke           # a few steps, two variants

Each variant learns to reverse sequences of letters, for the same number of epochs. The
script prints a table: the score, the window, the number of parameters, the share of 500
unseen sequences without a wrong letter, and the seconds of the training.

Compare these: "general" learns fastest, because its matrix can turn the query, while
"dot" has to make the states of encoder and decoder similar. "location" does not see the
source; it can only count. The window of "local-m" moves to the right, the wrong way
here. That of "local-p" is predicted, and learns to move to the left.

--out needs pip install ".[plot]".
"""

import argparse
import time
from typing import NamedTuple

import keras

import keras_seqattn as ks
from keras_seqattn import zoo

VARIANTS = [
    ("dot", "global"),
    ("general", "global"),
    ("concat", "global"),
    ("location", "global"),
    ("dot", "local-m"),
    ("general", "local-m"),
    ("dot", "local-p"),
    ("general", "local-p"),
]


class Row(NamedTuple):
    """The results of one variant."""

    score: str
    window: str
    parameters: int
    exact: float  # percent of the unseen sequences
    seconds: float


def measure(score, window, task, letters, epochs, seed):
    """Train one variant, and measure its exact match."""
    keras.utils.set_random_seed(seed)
    model = zoo.luong2015(
        "small",
        source_vocabulary=letters.vocabulary_size,
        target_vocabulary=letters.vocabulary_size,
        layers=1,
        attention=score,
        window=window,
        reach=3,  # D: the window has 7 positions
        longest=16,  # that "location" has weights for
    )
    translator = ks.Translator(model, letters, letters, search=ks.Greedy())
    batches = translator.dataset(task.train, batch_size=64)
    rate = keras.optimizers.schedules.CosineDecay(5e-3, epochs * len(batches))
    model.compile(
        optimizer=keras.optimizers.Adam(rate, global_clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    start = time.perf_counter()
    model.fit(batches, epochs=epochs, shuffle=False, verbose=0)
    seconds = time.perf_counter() - start
    exact = translator.evaluate(task.test, ["exact_match"])["exact_match"]
    return Row(score, window, model.count_params(), exact, seconds)


def draw(path, rows):
    """Draw a bar for each variant."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 2.8), dpi=110, layout="constrained")
    axes = figure.subplots()
    bars = axes.barh(
        [f"{row.score}, {row.window}" for row in rows], [r[3] for r in rows]
    )
    axes.bar_label(bars, fmt="%.1f", padding=2)
    axes.invert_yaxis()  # the first one on top, as in the table
    axes.set(xlabel="exact match, %", xlim=(0, 118))
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", metavar="PNG", help="where to draw the bars")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smoke", action="store_true", help="a few steps only")
    args = parser.parse_args()
    train, epochs, variants = 20_000, 2, VARIANTS
    if args.smoke:
        train, epochs, variants = 128, 1, [VARIANTS[1], VARIANTS[-1]]

    task = ks.data.tasks.reverse(train=train)
    letters = ks.text.Characters.learn(task.train.source)
    rows = []
    print("score     window   parameters  exact match  seconds")
    for score, window in variants:
        rows.append(measure(score, window, task, letters, epochs, args.seed))
        print("{:9} {:8} {:10,d} {:10.1f} % {:8.1f}".format(*rows[-1]), flush=True)
    if args.out:
        draw(args.out, rows)


if __name__ == "__main__":
    main()
