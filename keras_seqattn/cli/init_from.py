"""Begin a run with the weights of a trained translator: `seqattn train --init-from`.

A new run keeps the translator that it begins with in its folder `start`. So a resumed
run does not need the trained translator again.
"""

from keras_seqattn.cli.load_translator import load_translator
from keras_seqattn.cli.model_factory import PAPER
from keras_seqattn.cli.run_folder import find_run
from keras_seqattn.cli.text_processors import learn_side, learn_texts
from keras_seqattn.errors import four_part_error
from keras_seqattn.text.sentence_piece import SentencePiece


def load_trained(settings, run):
    """Return the trained translator of `--init-from`, or None if it is not needed."""
    if run.start.exists():
        return None
    if run.epochs():
        raise four_part_error(
            "train found a run without the translator that it began with",
            f"{str(run.start)!r}, which --init-from has written",
            "no such folder",
            "Restore the folder, or start a new run with --repeat and its run.json",
        )
    return load_translator(settings.init_from)


def complete_model(settings):
    """Return the settings with a model, if only some of its sizes are written.

    `--set` alone changes sizes of the trained model. Without `--model`, `--preset` and
    `--set`, the model stays open: it is like the trained one.
    """
    if (settings.model, settings.preset) != (None, None):
        return settings
    if settings.optimizer == PAPER:
        raise _without_model("--optimizer paper", settings)
    if not settings.set:
        return settings
    run = find_run(settings.init_from)
    old = run and run.settings()
    if old is None or old.model is None:
        raise _without_model("--set", settings)
    sizes = {**old.set, **settings.set}
    return settings.with_(model=old.model, preset=old.preset, set=sizes)


def _without_model(option, settings):
    return four_part_error(
        f"train got {option} for a model whose function is not known",
        "--model NAME, or --init-from with a run whose run.json names it",
        f"--init-from {settings.init_from}",
        f"Add --model, or leave {option} out",
    )


def starting_texts(settings, pairs, trained):
    """Return the text processors of both sides: those of the options, or the trained.

    A joint vocabulary is one object.
    """
    written = settings.source_text, settings.target_text
    if None not in written:
        return learn_texts(settings, pairs)
    texts = trained.source_text, trained.target_text
    if written == (None, None) and texts[0] is texts[1]:
        text = _kept(settings, texts[0])
        return text, text
    return tuple(
        _kept(settings, text) if kind is None else learn_side(settings, side, pairs)
        for side, kind, text in zip(("source", "target"), written, texts, strict=True)
    )


def _kept(settings, text):
    """Return a trained text processor, which samples as the settings say."""
    if not settings.sample:
        return text
    if not isinstance(text, SentencePiece):
        raise four_part_error(
            "train got texts that cannot be sampled",
            "sentencepiece on both sides with --sample",
            f"{type(text).__name__} in the translator of --init-from",
            "Add --text sentencepiece:8000, or leave --sample out",
        )
    options = {**text.get_config(), "alpha": settings.sample}
    return text._from_bytes(text._to_bytes(), options)
