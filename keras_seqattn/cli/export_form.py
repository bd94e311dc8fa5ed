"""The two forms in which a translator is exported, and whose options are whose."""

from pathlib import Path

from keras_seqattn.cli.train_options import NamedValues
from keras_seqattn.errors import four_part_error

# Written here, because help shall not wait for TensorFlow.
WEIGHTS = {
    "SavedModel": ("float32", "bfloat16", "int8"),
    "LiteRT": ("float32", "float16", "int8"),
}


def add_options(parser):
    """Those of both forms, and those of each."""
    parser.add_argument(
        "--weights",
        choices=["float32", "bfloat16", "float16", "int8"],
        default="float32",
        help="weights are stored as float32, in 16 bits (bfloat16 in a SavedModel, "
        "float16 in LiteRT), or as int8 (default: %(default)s)",
    )
    _add_saved_model(parser.add_argument_group("SavedModel"))
    _add_litert(parser.add_argument_group("LiteRT"))


def check(parsed):
    """Nothing is missing, and nothing would be ignored."""
    if parsed.litert:
        _check_weights(parsed, "LiteRT", "float16")
        _check_litert(parsed)
    else:
        _check_weights(parsed, "SavedModel", "bfloat16")
        _check_saved_model(parsed)


def _add_saved_model(group):
    group.add_argument(
        "--version", type=int, metavar="N", help="write into the folder OUT/N"
    )
    group.add_argument(
        "--warmup",
        metavar="FILE",
        help="texts, one in each line, with which TensorFlow Serving warms up "
        "(default: some frequent words)",
    )
    group.add_argument(
        "--note",
        nargs="+",
        action=NamedValues,
        metavar="NAME=VALUE",
        help="what manifest.json shall say besides",
    )


def _add_litert(group):
    group.add_argument(
        "--litert", action="store_true", help="write one file for devices"
    )
    group.add_argument(
        "--source-length",
        type=int,
        metavar="N",
        help="tokens of a text that are read, its end included",
    )
    group.add_argument(
        "--target-length",
        type=int,
        metavar="N",
        help="tokens of a translation at most, its end included",
    )
    group.add_argument(
        "--batch", type=int, metavar="N", help="texts at once, always (default: 1)"
    )


def _check_weights(parsed, form, half):
    if parsed.weights not in WEIGHTS[form]:
        raise four_part_error(
            f"export got weights that it cannot write as {form}",
            f"one of {', '.join(WEIGHTS[form])}",
            f"--weights {parsed.weights}",
            f"Write --weights {half}, which is as small",
        )


def _check_saved_model(parsed):
    given = _given(parsed, "source_length", "target_length", "batch")
    if given:
        raise four_part_error(
            "export got options of LiteRT for a SavedModel",
            "--source-length, --target-length and --batch with --litert only",
            f"{', '.join(given)} without it",
            "Add --litert, or leave them out: a SavedModel takes any number of texts "
            "of any length",
        )


def _check_litert(parsed):
    given = _given(parsed, "version", "warmup", "note")
    if given:
        raise four_part_error(
            "export got options of a SavedModel for LiteRT",
            "--version, --warmup and --note without --litert only",
            f"{', '.join(given)} with it",
            "Leave them out: one file has neither versions, nor requests, nor notes",
        )
    lengths = _given(parsed, "source_length", "target_length")
    if len(lengths) < 2:
        raise four_part_error(
            "export lacks a length",
            "--source-length and --target-length with --litert, where all shapes are "
            "fixed",
            f"{lengths[0]} only" if lengths else "neither",
            "Add what the longest text needs: its tokens, and one for the end",
        )
    if Path(parsed.out).is_dir():
        raise four_part_error(
            "export got a folder for a LiteRT file",
            "the path of a file",
            f"{parsed.out!r}, a folder",
            f"Choose another path, e.g. {Path(parsed.out)}.tflite",
        )


def _given(parsed, *names):
    """Which of some options somebody has written."""
    written = [name for name in names if getattr(parsed, name) is not None]
    return [f"--{name.replace('_', '-')}" for name in written]
