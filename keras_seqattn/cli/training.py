"""Train a translator, from the settings of a run to its last epoch."""

import contextlib
import sys

import keras

from keras_seqattn.callbacks.attention_callback import AttentionCallback
from keras_seqattn.callbacks.divergence_guard import DivergenceGuard
from keras_seqattn.callbacks.validation import Validation
from keras_seqattn.cli.chosen_settings import choose_settings
from keras_seqattn.cli.init_from import starting_texts
from keras_seqattn.cli.model_factory import make_model, make_optimizer, model_call
from keras_seqattn.cli.progress import ProgressTranslator, note, working
from keras_seqattn.cli.run_callbacks import (
    RunCheckpoint,
    SeedPerEpoch,
    TimeLimit,
    interruptible,
    seed_random_states,
)
from keras_seqattn.cli.settings_checks import check_settings
from keras_seqattn.cli.text_processors import (
    check_texts,
    learn_texts,
    warn_of_references,
)
from keras_seqattn.cli.training_data import make_dataset
from keras_seqattn.cli.word_vectors import start_from_vectors
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.decoding.greedy import Greedy
from keras_seqattn.errors import four_part_error
from keras_seqattn.losses.fused_crossentropy import FusedCrossentropy
from keras_seqattn.metrics.text_metric import text_metric
from keras_seqattn.metrics.token_metrics import Perplexity, TokenAccuracy
from keras_seqattn.models.frozen_layers import frozen
from keras_seqattn.translator.transfer_learning import transfer
from keras_seqattn.translator.translator import Translator

POLICIES = {"float32": "float32", "bfloat16": "mixed_bfloat16"}


def check(settings):
    """Check what needs neither the data nor the model."""
    check_settings(settings)
    check_texts(settings)
    _check_metrics(settings.metric or ())


def check_model(settings):
    """Check that the model and its optimizer can be made. The data are read before."""
    if settings.model is not None:  # else it is like the one of --init-from
        model_call(settings)
    make_optimizer(settings, 1)


def complete(settings, task, trained=None):
    """Return the settings with a value for everything that was left open.

    With `--init-from`, text and model may stay those of the trained translator.
    """
    settings, reasons = choose_settings(settings, task, trained)
    for line in reasons:
        note(line)
    if settings.pad_to_multiple is None:
        settings = settings.with_(pad_to_multiple=default_multiple(settings.jit))
    check_texts(settings)  # again: now both sides are known
    _check_metrics(settings.metric)
    return settings


def default_multiple(jit):
    """Return the default of `pad_to_multiple`."""
    return 8 if jit else 1


def _check_metrics(names):
    """Check that the metrics exist and that their packages are installed."""
    for name in names:
        text_metric(name).check()


@contextlib.contextmanager
def dtype_policy(policy):
    """Inside this context, new layers compute with another dtype policy."""
    old = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(old)


def make_search(width, length_penalty):
    """Return a beam search, or a greedy search for width 1."""
    if width == 1:
        return Greedy()
    return BeamSearch(width, length_penalty=length_penalty)


def make_translator(settings, source_text, target_text, trained=None):
    """Return an untrained translator, or one with the weights of a trained one."""
    sizes = source_text.vocabulary_size, target_text.vocabulary_size
    with dtype_policy(POLICIES[settings.precision]):
        is_open = settings.model is None  # with --init-from
        model = None if is_open else make_model(settings, *sizes)
        if trained is not None:
            model = transfer(trained, source_text, target_text, model, note).model
    return _with_options(settings, model, source_text, target_text)


def _with_options(settings, model, source_text, target_text):
    search = make_search(settings.beam, settings.length_penalty)
    return Translator(model, source_text, target_text, search, settings.max_length)


def validation_translator(settings, translator):
    """Return the translator with the search of the validations."""
    search = make_search(settings.validation_beam, settings.length_penalty)
    return translator.with_search(search)


def make_validation(settings, task, translator, run):
    """Return the callback that validates and keeps the best weights."""
    return Validation(
        ProgressTranslator(validation_translator(settings, translator)),
        (task.validation.source, task.references["validation"]),
        metrics=settings.metric,
        every=settings.validate_every,
        patience=settings.patience,
        folder=run.checkpoints,
        average=settings.average,
        log_dir=run.logs,
    )


def attention_callbacks(settings, task, translator, run):
    """Return a list with the callback of TensorBoard's tab "Attention", if any."""
    sentences = task.validation.source[: settings.attention]
    if not sentences:
        return []
    return [
        AttentionCallback(
            validation_translator(settings, translator),
            sentences,
            task.validation.target[: settings.attention],
            log_dir=run.logs,
            every=settings.validate_every,
        )
    ]


def train(settings, task, run, trained=None):
    """Train from the beginning, or continue an interrupted run.

    Args:
        settings: complete `Settings`.
        task: `Task` with the pairs.
        run: `RunFolder`.
        trained: the `Translator` that a new run starts from. None: there is none, or
            the run has stored what it starts from.
    """
    keras.utils.set_random_seed(settings.seed)
    epoch = run.states.last_whole()
    translator = _first_translator(settings, task, run, epoch, trained)
    model = translator.model
    dataset, steps, report = make_dataset(settings, task.train, translator, epoch)
    run.about["left_out"]["train"] = run.about["left_out"]["train"].then(report)
    with frozen(model, settings.freeze or []) as thawed:
        _compile(settings, model, steps)
        model.summary(print_fn=note)
        run.begin(settings, translator.source_text, translator.target_text)
        if trained is not None:
            with thawed():
                translator.save(run.start)
        run.load_state(model, epoch)
        _fit(settings, task, run, translator, (dataset, steps), epoch, thawed)


def _first_translator(settings, task, run, epoch, trained):
    """Return the translator with the weights that it has before the first epoch."""
    if settings.init_from is not None and trained is None:
        old = Translator.load(run.start)
        texts = old.source_text, old.target_text
        translator = _with_options(settings, old.model, *texts)
    else:
        with working("learning the vocabulary"):
            texts = _texts(settings, task, run, epoch, trained)
        warn_of_references(texts[1], task.references["validation"])
        translator = make_translator(settings, *texts, trained)
    if settings.init_from is not None:
        # A resumed run makes its model in another way, and draws the same numbers.
        seed_random_states(translator.model, settings.seed)
        keras.utils.set_random_seed(settings.seed)
    if not epoch and (settings.source_vectors or settings.target_vectors):
        start_from_vectors(settings, translator)
    return translator


def _fit(settings, task, run, translator, data, epoch, thawed):
    """Train the compiled model, and save what `--resume` needs."""
    model, (dataset, steps) = translator.model, data
    validation = make_validation(settings, task, translator, run)
    action, limit = settings.on_divergence, TimeLimit(settings.minutes)
    guards = [] if action == "ignore" else [DivergenceGuard(action)]
    checkpoint = RunCheckpoint(run, translator, validation, limit, thawed)
    callbacks = [*guards, validation, SeedPerEpoch(), limit, checkpoint]
    callbacks += attention_callbacks(settings, task, translator, run)
    with interruptible():
        try:
            model.fit(
                dataset,
                epochs=_last_epoch(settings, validation, model, epoch),
                steps_per_epoch=steps if settings.sample else None,
                initial_epoch=epoch,
                shuffle=False,  # the dataset is already shuffled
                verbose=1 if sys.stdout.isatty() else 2,
                callbacks=callbacks,
            )
        except BaseException as error:
            has_diverged = isinstance(error, FloatingPointError)
            for guard in guards if has_diverged else ():
                # The loss may have diverged in the last step before a state.
                run.states.forget_after(guard.good_epochs)
            _finish(checkpoint, only_best=has_diverged)
            raise
        checkpoint.finish()
    checkpoint.check_saved()


def _compile(settings, model, steps):
    model.compile(
        make_optimizer(settings, steps),
        FusedCrossentropy(settings.label_smoothing),
        weighted_metrics=[TokenAccuracy(), Perplexity()],
        jit_compile=settings.jit,
    )


def _texts(settings, task, run, epoch, trained):
    """Return the text processors of a resumed run, or those of a new run."""
    texts = run.texts()
    if texts is None and epoch:
        raise four_part_error(
            "train found a run without its text processors",
            f"{str(run.path / 'text')!r}, which the run began with",
            "no such folder",
            "Restore the folder, or start a new run with --repeat and its run.json",
        )
    if trained is not None:
        return texts or starting_texts(settings, task.train, trained)
    return texts or learn_texts(settings, task.train)


def _last_epoch(settings, validation, model, epoch):
    """Return the last epoch; a resumed run without patience left trains no further."""
    if epoch:
        validation.go_on(int(model.optimizer.iterations))
        if validation.is_over:
            note(
                f"The last {settings.patience} validations were no better: the run is "
                "done. To train on, add "
                f"--patience {2 * settings.patience} or another larger number."
            )
            return epoch
    return settings.epochs


def _finish(checkpoint, only_best):
    """Save the translator; its errors must not hide the error that ended training."""
    try:
        checkpoint.finish(only_best)
    except (OSError, ValueError) as other:
        note(f"The translator could not be saved: {other}")
