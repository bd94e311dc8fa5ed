"""Checks that the options of `seqattn export` suit the form that is written."""

from pathlib import Path

from keras_seqattn.cli.load_translator import check_order
from keras_seqattn.errors import four_part_error
from keras_seqattn.export import litert_checks
from keras_seqattn.export.stored_weights import KINDS

WEIGHTS = {"SavedModel": KINDS, "LiteRT": litert_checks.WEIGHTS}


def check(options):
    """Check that no option is missing and that none would be ignored."""
    if Path(options.out).exists():
        check_order("export", options.run, options.out)
    if options.litert:
        _check_weights(options, "LiteRT", "float16")
        _check_litert(options)
    else:
        _check_weights(options, "SavedModel", "bfloat16")
        _check_saved_model(options)


def _check_weights(options, form, half):
    if options.weights not in WEIGHTS[form]:
        raise four_part_error(
            f"export got weights that it cannot write as {form}",
            f"one of {', '.join(WEIGHTS[form])}",
            f"--weights {options.weights}",
            f"Write --weights {half}, which is as small",
        )


def _check_saved_model(options):
    written = _written(options, "source_length", "target_length", "batch")
    if written:
        raise four_part_error(
            "export got options of LiteRT for a SavedModel",
            "--source-length, --target-length and --batch with --litert only",
            f"{', '.join(written)} without it",
            "Add --litert, or leave them out: a SavedModel takes any number of texts "
            "of any length",
        )


def _check_litert(options):
    written = _written(options, "version", "warmup", "note")
    if written:
        raise four_part_error(
            "export got options of a SavedModel for LiteRT",
            "--version, --warmup and --note without --litert only",
            f"{', '.join(written)} with it",
            "Leave them out: a LiteRT file has neither versions, nor requests, nor "
            "notes",
        )
    lengths = _written(options, "source_length", "target_length")
    if len(lengths) < 2:
        raise four_part_error(
            "export lacks a length",
            "--source-length and --target-length with --litert, because all shapes of "
            "a LiteRT file are fixed",
            f"{lengths[0]} only" if lengths else "neither",
            "Add the number of tokens of the longest text, plus one for its end",
        )
    if Path(options.out).is_dir():
        raise four_part_error(
            "export got a folder for a LiteRT file",
            "the path of a file",
            f"{options.out!r}, a folder",
            f"Choose another path, e.g. {Path(options.out)}.tflite",
        )


def _written(options, *names):
    """Return those of some options that the user wrote."""
    written = [name for name in names if getattr(options, name) is not None]
    return [f"--{name.replace('_', '-')}" for name in written]
