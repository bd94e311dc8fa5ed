"""Export a translator as a SavedModel or as a LiteRT file."""

import inspect
from pathlib import Path

from keras_seqattn.cli import export_checks
from keras_seqattn.cli.load_translator import load_translator
from keras_seqattn.cli.model_factory import VOCABULARIES, model_call
from keras_seqattn.cli.progress import note, working
from keras_seqattn.cli.run_folder import find_run
from keras_seqattn.cli.text_files import read_lines
from keras_seqattn.errors import four_part_error


def run(options):
    """Check the options and export."""
    export_checks.check(options)
    if options.litert:
        _write_litert(options)
    else:
        _write_saved_model(options)


def _write_saved_model(options):
    warmup = None if options.warmup is None else read_lines(options.warmup)[0]
    translator = _load(options)
    manifest = _add_notes(run_manifest(options.run, translator), options.note or {})
    with working("exporting"):
        translator.export(
            options.out,
            version=options.version,
            weights=options.weights,
            manifest=manifest,
            warmup=warmup,
        )
    out = options.out if options.version is None else f"{options.out}/{options.version}"
    note(f"{out} has the signatures serving_default, from text to text and score;")
    note("translate_with_attention, nbest, encode; score, from source and target")


def _write_litert(options):
    translator = _load(options)
    with working("exporting"):
        translator.export_litert(
            options.out,
            source_length=options.source_length,
            target_length=options.target_length,
            batch=1 if options.batch is None else options.batch,
            weights=options.weights,
        )
    size = Path(options.out).stat().st_size / 1e6
    note(
        f"{options.out} ({size:.1f} MB) has one signature, from text to texts, scores,"
    )
    note("tokens and alignments")


def _load(options):
    return load_translator(
        options.run, options.beam, length_penalty=options.length_penalty
    )


def run_manifest(path, translator):
    """Return what a run knows of its translator; {} if the path is not of a run."""
    run = find_run(path)
    if run is None:
        return {}
    content = run.content()
    settings = run.settings()
    # With --init-from, the model may be like another one, without a function.
    model = {} if settings.model is None else {"model": _model(settings, translator)}
    return {
        **model,
        "metrics": _best_metrics(run),
        "command": content["command"],
        "seed": settings.seed,
        "data": content["data"],
        "trained_with": content["versions"],
    }


def _add_notes(manifest, notes):
    """Return the manifest with the user's notes, which must not replace its fields."""
    conflicts = [name for name in notes if name in manifest]
    if conflicts:
        raise four_part_error(
            "export got notes that would replace fields of the run",
            f"names other than {', '.join(manifest)}",
            " and ".join(f"{name}={notes[name]}" for name in conflicts),
            "Choose other names",
        )
    return {**manifest, **notes}


def _model(settings, translator):
    """Return the name of the function that made the model, and its arguments."""
    name = settings.model if "." in settings.model else f"zoo.{settings.model}"
    try:
        function, arguments = model_call(settings)
    except ValueError:  # the function cannot be imported; the export works without it
        return {"function": name}
    texts = translator.source_text, translator.target_text
    for argument, text in zip(VOCABULARIES, texts, strict=True):
        if argument in inspect.signature(function).parameters:
            arguments[argument] = text.vocabulary_size
    return {"function": name, "arguments": arguments}


def _best_metrics(run):
    """Return `{"validation": {metric: value}}` of the translator's weights."""
    best = run.best_validation()
    return {"validation": best["values"]} if best else None
