"""How early attention sets in: the entropy of the alignments while a model trains.

    python -m tools.early_attention run luong2015 --out after/luong2015.json
    python -m tools.early_attention draw before after --out docs/images/entropy.png

`run` trains a model of the zoo on Multi30k (256 units, joint BPE 8000, batches of 64,
Adam, bfloat16) for 1000 steps. Every 50 steps it writes the entropy of each row of the
alignments of 64 validation pairs, as a share of the entropy of equal weights: 1 means
that the model looks nowhere in particular. `draw` compares two folders of such files,
e.g. of two checkouts. `KERAS_SEQATTN_DATA` names the folder of the corpora.
"""

import argparse
import json
from pathlib import Path

import keras
import numpy as np

import keras_seqattn as ks
from keras_seqattn import zoo

SIZES = {"embedding": 256, "units": 256, "source_vocabulary": 8000}
SIZES |= {"target_vocabulary": 8000}
FAMILIES = {
    "luong2015": {"layers": 2, "dropout": 0.2},
    "bahdanau2015": {"attention_units": 256, "maxout": 256},
    "gnmt2016": {"attention_units": 256, "layers": 4, "dropout": 0.2},
}


class Entropies(keras.callbacks.Callback):
    """Keeps `[step, entropy]` every 50 steps."""

    def __init__(self, batch):
        super().__init__()
        self.batch, self.entropies = batch, []

    def on_train_batch_end(self, batch, logs=None):
        step = int(self.model.optimizer.iterations)
        if step % 50 == 0 or step == 1:
            self.entropies.append([step, self.measure()])

    def measure(self):
        """The mean over all target tokens of the entropy, from 0 to 1."""
        model, (inputs, labels) = self.model, self.batch
        _, alignments = model.call(inputs, return_attention_scores=True)
        weights = np.asarray(keras.ops.convert_to_numpy(alignments), "float64")
        logs = np.log(np.where(weights > 0, weights, 1.0))
        lengths = np.sum(np.asarray(inputs["source"]) != 0, axis=1)[:, None]
        shares = -np.sum(weights * logs, axis=-1) / np.log(np.maximum(lengths, 2))
        return round(float(np.mean(shares[np.asarray(labels) != 0])), 4)


def run(family, steps, seed=1):
    """Train a model of a family, and return its entropies."""
    keras.utils.set_random_seed(seed)
    keras.config.set_dtype_policy("mixed_bfloat16")
    corpus = ks.data.multi30k(tokenized=True)
    texts = [*corpus.train.source, *corpus.train.target]
    text = ks.text.SentencePiece.learn(texts, 8000, kind="bpe")
    model = getattr(zoo, family)("small", **SIZES, **FAMILIES[family])
    translator = ks.Translator(model, text, text)
    dataset = translator.dataset(corpus.train, batch_size=64, seed=seed)
    held_out = translator.dataset(corpus.validation, batch_size=64, shuffle=False)
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, decay_steps=4_300, warmup_target=0.002, warmup_steps=200
    )  # the one of ten epochs
    optimizer = ks.optimizers.FusedAdam(rate, global_clipnorm=1.0)
    model.compile(optimizer, ks.losses.FusedCrossentropy(0.1))
    entropies = Entropies(next(iter(held_out)))
    model.fit(
        dataset.repeat(),
        steps_per_epoch=steps,
        epochs=1,
        shuffle=False,
        verbose=2,
        callbacks=[entropies],
    )
    return entropies.entropies


def draw(before, after, path):
    """Draw the curves of both folders, one colour for each family."""
    from matplotlib.figure import Figure  # pip install "keras_seqattn[plot]"

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for number, family in enumerate(FAMILIES):
        for folder, style in ((before, ":"), (after, "-")):
            text = (Path(folder) / f"{family}.json").read_text(encoding="utf-8")
            label = f"{family}, {'before' if folder == before else 'after'}"
            points = np.array(json.loads(text))
            axes.plot(*points.T, style, color=f"C{number}", label=label)
    axes.set_xlabel("steps")
    axes.set_ylabel("entropy of the alignments, 1 = equal weights")
    axes.set_ylim(0, 1.05)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.2)
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=120)


def main(arguments=None):
    """Run one of the commands above."""
    parser = argparse.ArgumentParser(prog="python -m tools.early_attention")
    verbs = parser.add_subparsers(dest="verb", required=True)
    running = verbs.add_parser("run", help="train, and write the entropies")
    running.add_argument("family", choices=FAMILIES)
    running.add_argument("--steps", type=int, default=1000)
    running.add_argument("--out", type=Path, required=True)
    drawing = verbs.add_parser("draw", help="draw two folders of entropies")
    drawing.add_argument("folders", nargs=2, metavar="FOLDER")
    drawing.add_argument("--out", type=Path, required=True)
    parsed = parser.parse_args(arguments)
    if parsed.verb == "draw":
        draw(*parsed.folders, parsed.out)
        return
    entropies = run(parsed.family, parsed.steps)
    parsed.out.parent.mkdir(parents=True, exist_ok=True)
    parsed.out.write_text(f"{json.dumps(entropies)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
