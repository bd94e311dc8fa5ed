"""What a run does, from its settings to a trained translator."""

import contextlib
import sys
import warnings

import keras
import numpy as np

from keras_seqattn.callbacks.attention_callback import AttentionCallback
from keras_seqattn.callbacks.divergence_guard import DivergenceGuard
from keras_seqattn.callbacks.validation import Validation
from keras_seqattn.cli import model_choice, settings_checks, text_choice
from keras_seqattn.cli.keeper import Keeper
from keras_seqattn.cli.metric_choice import metrics
from keras_seqattn.cli.optimizer_choice import optimizer
from keras_seqattn.cli.progress import Shown, note, working
from keras_seqattn.cli.seeds import SeedPerEpoch
from keras_seqattn.cli.stopping import TimeLimit, interruptible
from keras_seqattn.cli.translators import search
from keras_seqattn.data.batch_dataset import batches
from keras_seqattn.data.encoding import encode
from keras_seqattn.data.filtering import filter_lengths
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.errors import four_part_error
from keras_seqattn.losses.fused_crossentropy import FusedCrossentropy
from keras_seqattn.metrics.token_metrics import Perplexity, TokenAccuracy
from keras_seqattn.translator.translator import Translator

POLICIES = {"float32": "float32", "bfloat16": "mixed_bfloat16"}
METRICS = {"characters": "exact_match", "words": "wer"}  # of others: BLEU
USUAL_BATCH_TOKENS = 2000
BATCHES = ("batch_tokens", "batch_size", "pad_to_multiple", "seed")
TOO_LONG = 0.01  # of the targets: where more of them are, something is wrong


def check(settings):
    """Raises for what can be known before there are data."""
    settings_checks.check(settings)
    text_choice.check(settings)
    model_choice.chosen(settings)
    optimizer(settings, 1)
    metrics(settings.metric or ())


def effective(settings, task):
    """The settings with everything chosen that was left open."""
    usual = {"subwords": text_choice.SUBWORDS}
    bleu = "tokenized_bleu" if settings.tokenized else "bleu"
    suiting = {
        "source_text": usual.get(task.source_text, task.source_text),
        "target_text": usual.get(task.target_text, task.target_text),
        "metric": [METRICS.get(task.target_text, bleu)],
        "batch_tokens": USUAL_BATCH_TOKENS if settings.batch_size is None else None,
        "pad_to_multiple": usual_multiple(settings.jit),
    }
    still_open = {k: v for k, v in suiting.items() if getattr(settings, k) is None}
    settings = settings.with_(**still_open)
    text_choice.check(settings)  # those of both sides now, for a joint vocabulary
    metrics(settings.metric)
    return settings


def usual_multiple(jit):
    """Of the lengths of batches."""
    return 8 if jit else 1


@contextlib.contextmanager
def computing_in(policy):
    """Layers that are made inside compute so."""
    usual = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(usual)


def make_translator(settings, source_text, target_text):
    """An untrained translator."""
    sizes = source_text.vocabulary_size, target_text.vocabulary_size
    with computing_in(POLICIES[settings.precision]):
        model = model_choice.build(settings, *sizes)
    how = search(settings.beam, settings.length_penalty)
    return Translator(model, source_text, target_text, how, settings.max_length)


def make_dataset(settings, pairs, translator, epoch=0):
    """Batches from some epoch on, and how many there are in each."""

    def encoded(sample):
        texts = translator.source_text, translator.target_text
        return filter_lengths(encode(pairs, *texts, sample=sample), settings.max_tokens)

    how = {name: getattr(settings, name) for name in BATCHES}
    with working("encoding"):
        ids, report = encoded(sample=False)
        dataset = batches(ids, **how, epoch=epoch)
    for reason, count in report.dropped.items():
        note(f"{count} pairs are left out: {reason}")
    warn_of_lengths(ids, translator.pipeline.max_length)
    steps = int(dataset.cardinality())
    if settings.sample:  # in a stream: passes over it differ a little in length
        dataset = batches(lambda _: encoded(sample=True)[0], **how, epoch=epoch)
        dataset = dataset.repeat()
    return dataset, steps


def warn_of_lengths(ids, max_length):
    """Targets that no translation can be as long as."""
    sources, targets = (side.lengths + 1 for side in (ids.source, ids.target))  # ends
    limits = max_length
    if isinstance(max_length, RelativeLength):
        limits = max_length.of_sizes(sources).numpy()
    longer = int(np.sum(targets > limits))
    if longer > TOO_LONG * len(targets):
        warnings.warn(
            "train got targets that are longer than any translation will be. Expected "
            f"{100 * TOO_LONG:.0f} % at most beyond max_length={max_length}, received "
            f"{longer} of {len(targets)}, the longest of {targets.max()} tokens. Give "
            f"e.g. --max-length {targets.max()}.",
            stacklevel=2,
        )


def validated(settings, translator):
    """The translator as it searches while it trains."""
    how = search(settings.validation_beam, settings.length_penalty)
    return translator.with_search(how)


def make_validation(settings, task, translator, run):
    """Translates the validation set, and keeps the weights that do it best."""
    return Validation(
        Shown(validated(settings, translator)),
        (task.validation.source, task.references["validation"]),
        metrics=settings.metric,
        every=settings.validate_every,
        patience=settings.patience,
        folder=run.checkpoints,
        average=settings.average,
        log_dir=run.logs,
    )


def shown_attention(settings, task, translator, run):
    """What TensorBoard's tab "Attention" reads, a list of callbacks."""
    sentences = task.validation.source[: settings.attention]
    if not sentences:
        return []
    return [
        AttentionCallback(
            validated(settings, translator),
            sentences,
            task.validation.target[: settings.attention],
            log_dir=run.logs,
            every=settings.validate_every,
        )
    ]


def train(settings, task, run):
    """Trains, from the beginning or from where the run was interrupted.

    Args:
        settings: `Settings`, effective ones.
        task: `Task`, its pairs.
        run: `RunFolder`.
    """
    keras.utils.set_random_seed(settings.seed)
    epoch = run.states.last_whole()
    with working("learning the vocabulary"):
        texts = _texts(settings, task, run, epoch)
    references = task.references["validation"]
    text_choice.warn_of_references(settings, texts[1], references)
    translator = make_translator(settings, *texts)
    model = translator.model
    dataset, steps = make_dataset(settings, task.train, translator, epoch)
    model.compile(
        optimizer(settings, steps),
        FusedCrossentropy(settings.label_smoothing),
        weighted_metrics=[TokenAccuracy(), Perplexity()],
        jit_compile=settings.jit,
    )
    model.summary(print_fn=note)
    run.begin(settings, *texts)
    run.load_state(model, epoch)
    validation = make_validation(settings, task, translator, run)
    shown = shown_attention(settings, task, translator, run)
    limit, action = TimeLimit(settings.minutes), settings.on_divergence
    guards = [] if action == "ignore" else [DivergenceGuard(action)]
    keeper = Keeper(run, translator, validation, limit)
    with interruptible():
        try:
            model.fit(
                dataset,
                epochs=_last_epoch(settings, validation, model, epoch),
                steps_per_epoch=steps if settings.sample else None,
                initial_epoch=epoch,
                shuffle=False,  # the dataset does
                verbose=1 if sys.stdout.isatty() else 2,
                callbacks=[*guards, validation, SeedPerEpoch(), limit, keeper, *shown],
            )
        except BaseException as error:
            has_diverged = isinstance(error, FloatingPointError)
            for guard in guards if has_diverged else ():
                # Perhaps it diverged in the last step before a state.
                run.states.forget_after(guard.good_epochs)
            _finish(keeper, only_best=has_diverged)
            raise
        keeper.finish()
    keeper.check_saved()


def _texts(settings, task, run, epoch):
    """The processors of a run that goes on; else new ones."""
    found = run.texts()
    if found is None and epoch:
        raise four_part_error(
            "train found a run without its text processors",
            f"{str(run.path / 'text')!r}, which the run was begun with",
            "no such folder",
            "Put it back, or start a new run with --repeat and its run.json",
        )
    return found or text_choice.learn(settings, task.train)


def _last_epoch(settings, validation, model, epoch):
    """The last epoch. A resumed run whose patience was used up trains no further."""
    if epoch:
        validation.go_on(int(model.optimizer.iterations))
        if validation.is_over:
            note(
                f"The last {settings.patience} validations were no better: the run is "
                "done. Give a larger --patience to go on."
            )
            return epoch
    return settings.epochs


def _finish(keeper, only_best):
    """The user must see the error that ended the training, not one of this clean-up."""
    try:
        keeper.finish(only_best)
    except (OSError, ValueError) as other:
        note(f"no translator could be kept: {other}")
