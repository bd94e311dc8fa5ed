"""The settings that the user left open, chosen by the data."""

from keras_seqattn.cli.model_factory import RECOMMENDED
from keras_seqattn.translator.recommendation import KEPT, kinds_of, recommended

PRESET_MODEL = "bahdanau2015"  # of --preset without --model
# These suit each other: if the user writes one of them, the others have fixed values.
OPTIMIZER = {
    "learning_rate": 0.001,
    "schedule": "constant",
    "warmup": 0,
    "label_smoothing": 0.0,
}
METRICS = {"subwords": "bleu", "words": "wer"}  # of tasks and corpora, as in papers


def choose_settings(settings, task, trained=None):
    """Return settings without open ones, and lines with the reasons.

    With `init_from`, the text and the model may stay open.

    Args:
        settings: `Settings`.
        task: `Task` with the pairs.
        trained: the `Translator` that a new run starts from, or None.
    """
    kinds = task.source_text, task.target_text
    if settings.sample and kinds == (None, None):  # only subwords can be sampled
        kinds = "subwords", "subwords"
    files = settings.source_vectors, settings.target_vectors
    kinds = ["words" if f else kind for f, kind in zip(files, kinds, strict=True)]
    if trained is not None:
        kinds = kinds_of((trained.source_text, trained.target_text))
    chosen = recommended(task.train, kinds, settings.joint, settings.epochs)
    values = {
        "source_text": chosen.source_text,
        "target_text": chosen.target_text,
        "epochs": chosen.epochs,
        "metric": [_metric(settings, task, chosen)],
        "model": RECOMMENDED if settings.preset is None else PRESET_MODEL,
        **_optimizer(settings, chosen),
    }
    if settings.batch_tokens is None:
        values["batch_size"] = chosen.batch_size
    values = {k: v for k, v in values.items() if getattr(settings, k) is None}
    for name in KEPT if settings.init_from is not None else ():
        if name != "model" or settings.preset is None:
            values.pop(name, None)
    if values.get("model") == RECOMMENDED:
        values["set"] = {**chosen.model, **settings.set}
    return settings.with_(**values), chosen.lines(_explained(values))


def _optimizer(settings, chosen):
    """Return the settings of the optimizer."""
    is_open = all(getattr(settings, name) is None for name in OPTIMIZER)
    if not is_open or settings.optimizer != "adam":
        return OPTIMIZER
    return {
        "learning_rate": chosen.learning_rate,
        "schedule": "cosine",
        "warmup": chosen.warmup,
        "label_smoothing": chosen.label_smoothing,
    }


def _metric(settings, task, chosen):
    if settings.tokenized:
        return "tokenized_bleu"
    return METRICS.get(task.target_text, chosen.metric)


def _explained(values):
    """Return the names of the settings whose value is the recommended one."""
    names = set(values)
    if values.get("model") != RECOMMENDED:
        names.discard("model")
    if values.get("schedule") != "cosine":
        names.discard("learning_rate")
    return names
