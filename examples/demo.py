"""Train a model that reads dates, show its attention, and export it.

make demo              # the same as:
python examples/demo.py
python examples/demo.py --seed 1 --out saved_models/demo --logs logs/demo

It needs pip install ".[cli]".

Dates in eleven languages become ISO dates, character by character: a model of Bahdanau
et al. 2015 reads "Monday, January 12, 1654" and writes 1654-01-12.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@contextlib.contextmanager
def silent_stderr():
    """Hide standard error: TensorFlow writes about the machine when it is imported."""
    stderr, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(null)


with silent_stderr():
    import keras
    import rich.console
    import rich.progress

    import keras_seqattn as ks
    from keras_seqattn import zoo

EPOCHS, BATCH, RATE = 2, 64, 5e-3
SHOWN = (18, 50, 44)  # of the test set: English, Finnish, Polish
ANSWERED = (1, 5, 28, *SHOWN)
SMOKE = {"train": 128, "validation": 10, "test": 60}
# A program that uses the exported model.
READER = """\
import json, sys
import tensorflow as tf
import tensorflow_text  # its operations are in the graph

model = tf.saved_model.load(sys.argv[1])
dates = tf.constant(json.load(sys.stdin))
results = model.signatures["serving_default"](dates)
print(json.dumps([text.decode() for text in results["text"].numpy()]))
"""


def make_translator(task):
    """Return an untrained translator with the alphabets of the training set."""
    source_text = ks.text.Characters.learn(task.train.source)
    target_text = ks.text.Characters.learn(task.train.target)
    model = zoo.bahdanau2015(
        "small",
        source_vocabulary=source_text.vocabulary_size,
        target_vocabulary=target_text.vocabulary_size,
    )
    return ks.Translator(model, source_text, target_text, max_length=16)


def train(translator, task, epochs, logs):
    """Train with `compile` and `fit` of Keras."""
    model = translator.model
    dataset = translator.dataset(task.train, batch_size=BATCH)
    steps = epochs * int(dataset.cardinality())
    rate = keras.optimizers.schedules.CosineDecay(RATE, steps)
    model.compile(
        keras.optimizers.Adam(rate, global_clipnorm=1.0),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=[ks.metrics.TokenAccuracy()],
    )
    validation = ks.callbacks.Validation(
        translator.with_search(ks.Greedy()),
        task.validation,
        metrics=["exact_match"],
        log_dir=logs,
    )
    curves = keras.callbacks.TensorBoard(logs, write_graph=False, update_freq=20)
    with progress_bar() as bar:
        model.fit(
            dataset,
            epochs=epochs,
            shuffle=False,  # the dataset shuffles
            verbose=0,
            callbacks=[validation, curves, Progress(bar)],
        )


def progress_bar():
    parts, console = rich.progress, rich.console.Console()
    return parts.Progress(
        parts.TextColumn("  {task.description}"),
        parts.BarColumn(),
        parts.MofNCompleteColumn(),
        parts.TimeRemainingColumn(),
        parts.TextColumn("loss {task.fields[loss]:.4f}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


class Progress(keras.callbacks.Callback):
    """Show a bar during each epoch, and print a line after it."""

    def __init__(self, bar):
        super().__init__()
        self.bar = bar

    def on_epoch_begin(self, epoch, logs=None):
        label, steps = f"epoch {epoch + 1}", self.params["steps"]
        self.task = self.bar.add_task(label, total=steps, loss=0.0)
        self.start = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        self.bar.update(self.task, completed=batch + 1, loss=logs["loss"])

    def on_epoch_end(self, epoch, logs=None):
        self.bar.remove_task(self.task)
        print(
            f"  epoch {epoch + 1} of {self.params['epochs']}:"
            f"  loss {logs['loss']:.4f},"
            f"  {logs['val_exact_match']:.1f} % of the validation dates are right"
            f"  ({time.monotonic() - self.start:.0f} s)",
            flush=True,
        )


def answers_of_a_new_process(path, texts):
    """Return the answers of the exported model, without Keras and this library."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", READER, str(path)],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"The exported model cannot be used:\n{done.stderr}")
    return json.loads(done.stdout)


# What is printed ----------------------------------------------------------------------


def heading(text):
    bold = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    text = f"\x1b[1m{text}\x1b[0m" if bold else text
    print(f"\n{text}\n", flush=True)


def show_pairs(sources, targets):
    width = max(map(len, sources))
    for source, target in zip(sources, targets, strict=True):
        print(f"  {source:{width}}  ->  {target}", flush=True)


def show_attention(translation):
    print(f"  {translation.source}  ->  {translation.text}\n")
    for line in translation.heat_map(width=76).splitlines():
        print(f"    {line}")
    print(flush=True)


def show_exact_match(pairs, texts):
    rows = zip(pairs.source, texts, pairs.target, strict=True)
    wrong = [row for row in rows if row[1] != row[2]]
    total, right = len(texts), len(texts) - len(wrong)
    print(f"  Of the whole test set, {right} of {total} dates are right in every")
    print(f"  character: exact match {100 * right / total:.1f} %.", flush=True)
    for source, text, target in wrong[:3]:
        print(f"  Wrong: {source}  ->  {text}, not {target}")


def check_same(answers, expected):
    if answers != expected:
        sys.exit(f"\n  These are not the answers of the model above: {expected}")
    print("\n  These are the answers of the model above, too.")


def show_next_steps(out, logs):
    folder = os.path.relpath(os.path.dirname(sys.executable))
    here = "" if shutil.which("seqattn") else f"{folder}/"
    print(f"""\
  Your own dates, with the attention:
    {here}seqattn translate {out}_translator --alignments

  The learning curves and sample translations of this training:
    {here}tensorboard --logdir {logs}

  Another task, with numbers in words:
    {here}seqattn tasks numbers
    {here}seqattn train --task numbers --preset small --out runs/numbers

  Your own files of sentences:
    {here}seqattn train --help""")


# The demo -----------------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="saved_models/demo", help="SavedModel")
    parser.add_argument("--logs", default="logs/demo", help="for TensorBoard")
    parser.add_argument("--smoke", action="store_true", help="tiny, writes no files")
    args = parser.parse_args()
    if not args.smoke:
        demo(args.seed, args.out, args.logs, epochs=EPOCHS)
        return
    with tempfile.TemporaryDirectory() as folder:
        demo(args.seed, f"{folder}/dates", f"{folder}/logs", epochs=1, **SMOKE)


def demo(seed, out, logs, epochs, **sizes):
    start = time.monotonic()
    keras.utils.set_random_seed(seed)
    task = ks.data.tasks.task("dates", **sizes)
    heading("The task: dates, written in many ways and languages")
    show_pairs(task.train.source[:5], task.train.target[:5])
    print(f"\n  {len(task.train)} pairs to learn from, {len(task.test)} for the test.")
    print("  No day of the test is in the training set, not even in another notation.")

    translator = make_translator(task)
    weights = translator.model.count_params()
    heading(
        f"Training: bahdanau2015 with {weights} weights, {epochs} epochs of model.fit"
    )
    train(translator, task, epochs, Path(logs) / time.strftime("%Y%m%d-%H%M%S"))

    heading("Dates that it has never seen, and its attention")
    translations = translator.translate(task.test.source)
    for i in SHOWN:
        show_attention(translations[i])
    show_exact_match(task.test, translations.texts)

    heading("Export: a SavedModel, from strings to strings")
    translator.save(f"{out}_translator")
    translator.export(out)
    print(f"  {out} needs TensorFlow and tensorflow-text, nothing else.")
    print("  A new process that imports only these answers:\n", flush=True)
    texts = [task.test.source[i] for i in ANSWERED]
    answers = answers_of_a_new_process(out, texts)
    show_pairs(texts, answers)
    check_same(answers, [translations[i].text for i in ANSWERED])

    heading(f"What next? (The demo took {time.monotonic() - start:.0f} seconds.)")
    show_next_steps(out, logs)


if __name__ == "__main__":
    main()
