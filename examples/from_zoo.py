"""Train a translator with a model of the zoo, and draw its attention.

python examples/from_zoo.py                    # Bahdanau et al. 2015, twenty seconds
python examples/from_zoo.py --model luong2015  # another paper's
python examples/from_zoo.py --task numbers     # another task: zwölf to twelve, a minute
python examples/from_zoo.py --smoke            # a few steps, to check that it runs

It prints the parts of the model, the loss of each epoch, the share of unseen texts that
it translates without a mistake, and some translations with their log-probabilities.
With --out it draws the attention of the last translation, that of --text if there is
one:

python examples/from_zoo.py --text "Donnerstag, 13. Januar 2095" \\
    --out docs/images/date_attention.png

Needs pip install ".[tasks]", with --out also "keras_seqattn[plot]".
"""

import argparse

import keras

import keras_seqattn as ks
from keras_seqattn import zoo

MODELS = [name for name in zoo.__all__ if not name.endswith("_optimizer")]
TASKS = ["dates", "numbers", "reverse", "sort"]  # letters to letters


def draw(path, translation):
    """Draw a heat map: a row for each written letter, a column for each read one."""
    from matplotlib.figure import Figure

    read, written = translation.source, translation.text  # without the end tokens
    size = 0.2 * len(read) + 1.6, 0.2 * len(written) + 1.0
    figure = Figure(figsize=size, dpi=110, layout="constrained")
    axes = figure.subplots()
    # From white to blue: readers who do not see colours can read it, too.
    weights = translation.alignment[: len(written), : len(read)]
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(read)), read)
    axes.set_yticks(range(len(written)), written)
    axes.tick_params(length=0)
    axes.set(xlabel="source", ylabel="target")
    figure.colorbar(image, label="attention")
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=MODELS, default="bahdanau2015")
    parser.add_argument("--task", choices=TASKS, default="dates")
    parser.add_argument("--text", help="a text to translate in the end")
    parser.add_argument("--out", metavar="PNG", help="where to draw the attention")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smoke", action="store_true", help="a few steps only")
    args = parser.parse_args()
    train, epochs = (256, 1) if args.smoke else (8000, 5)
    keras.utils.set_random_seed(args.seed)

    task = ks.data.tasks.task(args.task, train=train)
    source_text = ks.text.Characters.learn(task.train.source)
    target_text = ks.text.Characters.learn(task.train.target)
    model = getattr(zoo, args.model)(
        "small",  # the architecture of the paper, with small numbers
        source_vocabulary=source_text.vocabulary_size,
        target_vocabulary=target_text.vocabulary_size,
    )
    model.summary()

    model.compile(
        optimizer=keras.optimizers.Adam(4e-3, global_clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=[ks.metrics.TokenAccuracy()],
    )
    translator = ks.Translator(model, source_text, target_text)
    batches = translator.dataset(task.train, batch_size=64)
    model.fit(batches, epochs=epochs, shuffle=False, verbose=2)

    exact = translator.evaluate(task.test, ["exact_match"])["exact_match"]
    print(f"{exact:.1f} % of {len(task.test)} right")
    texts = [args.text] if args.text else []
    translations = translator(task.test.source[:3] + texts)
    for translation in translations:
        print(f"{translation.source} -> {translation} ({translation.score:.2f})")
    if args.out:
        draw(args.out, translations[-1])


if __name__ == "__main__":
    main()
