"""Writes a SavedModel, or a LiteRT file: strings in, strings out, without Python."""

import inspect
from pathlib import Path

from keras_seqattn.cli import export_form, use_options
from keras_seqattn.errors import four_part_error

HELP = "write a SavedModel or a LiteRT file, strings to strings"
EXAMPLES = """\
examples:
  seqattn export runs/dates served/dates
  seqattn export runs/de served/de --version 3       served/de/3, for TensorFlow Serving
  seqattn export runs/de served/de-small --weights int8 --beam 1
  seqattn export runs/de served/de --note licence=CC-BY-4.0 --warmup news.en
  seqattn export runs/dates dates.tflite --litert --source-length 40 --target-length 11

A SavedModel needs TensorFlow and tensorflow-text to run, nothing else:
  import tensorflow as tf, tensorflow_text
  model = tf.saved_model.load("served/dates")
  model.signatures["serving_default"](tf.constant(["3 May 2001"]))["text"]
A LiteRT file runs on a device, in LiteRT with tensorflow-text's operations; or here:
  from keras_seqattn.export.litert_run import litert_function
  litert_function("dates.tflite")(["3 May 2001"])["texts"]
"""


def configure(parser):
    """Adds its options."""
    use_options.add_translator(parser)
    parser.add_argument("out", metavar="OUT", help="new folder; for LiteRT a file")
    export_form.add_options(parser)
    use_options.add_search(parser, batches=False)


def run(parsed):
    """Exports."""
    export_form.check(parsed)
    if parsed.litert:
        _write_litert(parsed)
    else:
        _write_saved_model(parsed)


def _write_saved_model(parsed):
    from keras_seqattn.cli.progress import note, working
    from keras_seqattn.cli.text_lines import read_lines

    warmup = None if parsed.warmup is None else read_lines(parsed.warmup)[0]
    translator = _translator(parsed)
    manifest = _with_notes(_of_run(parsed.run, translator), parsed.note or {})
    with working("exporting"):
        translator.export(
            parsed.out,
            version=parsed.version,
            weights=parsed.weights,
            manifest=manifest,
            warmup=warmup,
        )
    out = parsed.out if parsed.version is None else f"{parsed.out}/{parsed.version}"
    note(f"{out} has the signatures serving_default, from text to text and score;")
    note("translate_with_attention, nbest, encode; score, from source and target")


def _write_litert(parsed):
    from keras_seqattn.cli.progress import note, working

    translator = _translator(parsed)
    with working("exporting"):
        translator.export_litert(
            parsed.out,
            source_length=parsed.source_length,
            target_length=parsed.target_length,
            batch=1 if parsed.batch is None else parsed.batch,
            weights=parsed.weights,
        )
    size = Path(parsed.out).stat().st_size / 1e6
    note(f"{parsed.out} ({size:.1f} MB) has one signature, from text to texts, scores,")
    note("tokens and alignments")


def _translator(parsed):
    from keras_seqattn.cli import translators

    return translators.load(
        parsed.run, parsed.beam, length_penalty=parsed.length_penalty
    )


def _of_run(path, translator):
    """What a run knows of its translator, for the manifest; {} where there is none."""
    from keras_seqattn.cli.run_folder import run_of
    from keras_seqattn.cli.settings import Settings

    run = run_of(path)
    if run is None:
        return {}
    content = run.content()
    settings = Settings.of(content["settings"])
    return {
        "model": _model(settings, translator),
        "metrics": _best(run),
        "command": content["command"],
        "seed": settings.seed,
        "data": content["data"],
        "trained_with": content["versions"],
    }


def _with_notes(known, notes):
    """What the manifest holds; a note stands in for nothing that the run knows."""
    taken = [name for name in notes if name in known]
    if taken:
        raise four_part_error(
            "export got notes with what the run knows itself",
            f"names other than {', '.join(known)}",
            " and ".join(f"{name}={notes[name]}" for name in taken),
            "Choose other names",
        )
    return {**known, **notes}


def _model(settings, translator):
    """The function that made the model, and the arguments of the call."""
    from keras_seqattn.cli import model_choice

    name = settings.model if "." in settings.model else f"zoo.{settings.model}"
    try:
        function, arguments = model_choice.chosen(settings)
    except ValueError:  # not of the zoo, or not here: the model does without it
        return {"function": name}
    texts = translator.source_text, translator.target_text
    for argument, text in zip(model_choice.VOCABULARIES, texts, strict=True):
        if argument in inspect.signature(function).parameters:
            arguments[argument] = text.vocabulary_size
    return {"function": name, "arguments": arguments}


def _best(run):
    """`{"validation": {metric: value}}` of the weights that the translator has."""
    best = run.best_validation()
    return {"validation": best["values"]} if best else None
