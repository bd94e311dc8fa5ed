"""Train a small GNMT on captions of pictures: Multi30k, English to German.

python examples/gnmt_multi30k.py --data FOLDER  # an hour on two cores
python examples/gnmt_multi30k.py --epochs 3 --out curve.png
python examples/gnmt_multi30k.py --smoke        # a few steps on number words

FOLDER has train.lc.norm.tok.en and so on, plain or compressed. Without --data it is the
folder multi30k in $KERAS_SEQATTN_DATA; without that, the files are downloaded once.

The model is a small version of Wu et al. 2016: 4 LSTM layers on both sides, residual
from the third, and attention from the bottom layer. Both languages share a vocabulary
of subwords. Batches have a number of tokens, not of sentences, and labels are smoothed.
After each epoch it translates the validation set, and prints BLEU and three
translations. In the end it prints the BLEU of the test set of 2016 with a beam,
lowercased and tokenised as the files are. With --out it draws perplexity and BLEU of
the epochs. With --folder it keeps the best weights, tests them, and saves the
translator.

Needs pip install ".[text,metrics]", with --out also "keras_seqattn[plot]",
with --smoke "keras_seqattn[tasks]".
"""

import argparse
import os

import keras

import keras_seqattn as ks
from keras_seqattn import zoo


def translator_of(task, vocabulary, units, layers):
    """Return a GNMT of these sizes; both languages share the vocabulary."""
    text = ks.text.SentencePiece.learn(
        task.train.source + task.train.target, vocabulary
    )
    model = zoo.gnmt2016(
        source_vocabulary=text.vocabulary_size,
        target_vocabulary=text.vocabulary_size,
        embedding=units,
        units=units,
        attention_units=units,
        layers=layers,
        dropout=0.2,
    )
    search = ks.BeamSearch(5, length_penalty=1.0, coverage_penalty=0.2)
    return ks.Translator(model, text, text, search=search)


def train(translator, task, epochs, folder):
    """Train, and return the history: `{name: [value of each epoch]}`."""
    batches = translator.dataset(task.train, batch_tokens=1000)
    warmup = len(batches) // 4 + 1
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, epochs * len(batches) - warmup, warmup_target=2e-3, warmup_steps=warmup
    )
    translator.model.compile(
        optimizer=keras.optimizers.Adam(rate, global_clipnorm=5.0),
        loss=ks.losses.SmoothedCrossentropy(0.1),
        weighted_metrics=[ks.metrics.Perplexity()],
    )
    validation = ks.callbacks.Validation(
        translator.with_search(ks.Greedy()),  # faster than the beam, good enough here
        task.validation,
        metrics=["tokenized_bleu"],
        folder=folder and os.path.join(folder, "validation"),
    )
    fitted = translator.model.fit(
        batches, epochs=epochs, callbacks=[validation], shuffle=False, verbose=2
    )
    return fitted.history


def draw(path, history):
    """Draw the perplexity in training, and the BLEU of the validation set."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(6.4, 2.8), dpi=110, layout="constrained")
    names = {"perplexity": "perplexity in training", "val_tokenized_bleu": "BLEU"}
    for axes, (name, label) in zip(figure.subplots(1, 2), names.items(), strict=True):
        axes.plot(range(1, len(history[name]) + 1), history[name], marker=".")
        axes.set(xlabel="epoch", ylabel=label)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="FOLDER", help="with the files of Multi30k")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--folder", help="where weights and translator are kept")
    parser.add_argument("--out", metavar="PNG", help="where to draw the curves")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smoke", action="store_true", help="a few steps only")
    args = parser.parse_args()
    keras.utils.set_random_seed(args.seed)

    if args.smoke:
        task = ks.data.tasks.numbers(train=256, validation=8, test=8)
        translator, epochs = translator_of(task, 60, units=16, layers=3), 1
    else:
        task = ks.data.multi30k(args.data)
        translator, epochs = translator_of(task, 4000, 256, layers=4), args.epochs
    history = train(translator, task, epochs, args.folder)
    translator.model.summary()

    bleu = translator.evaluate(task.test, ["tokenized_bleu"])["tokenized_bleu"]
    print(f"BLEU of {len(task.test)} test sentences: {bleu:.1f} ({bleu.signature})")
    print(translator(task.test.source[0]).heat_map())
    if args.folder:
        translator.save(os.path.join(args.folder, "translator"))
    if args.out:
        draw(args.out, history)


if __name__ == "__main__":
    main()
