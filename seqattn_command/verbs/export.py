"""Write a SavedModel or a LiteRT file: strings in, strings out, without Python."""

from seqattn_command.options import NamedValues, add_search, add_translator

HELP = "write a SavedModel or a LiteRT file, strings to strings"
EXAMPLES = """\
examples:
  seqattn export runs/dates served/dates
  seqattn export runs/de served/de --version 3       served/de/3, for TensorFlow Serving
  seqattn export runs/de served/de-small --weights int8 --beam 1
  seqattn export runs/de served/de --note licence=CC-BY-4.0 --warmup news.en
  seqattn export runs/dates dates.tflite --litert --source-length 40 --target-length 11

A SavedModel needs only TensorFlow and tensorflow-text to run:
  import tensorflow as tf, tensorflow_text
  model = tf.saved_model.load("served/dates")
  model.signatures["serving_default"](tf.constant(["3 May 2001"]))["text"]
A LiteRT file runs on a device, in LiteRT with tensorflow-text's operations; or here:
  from keras_seqattn.export.litert_run import litert_function
  litert_function("dates.tflite")(["3 May 2001"])["texts"]
"""
# A test compares these names with those of `keras_seqattn.export`.
WEIGHTS = ("float32", "bfloat16", "float16", "int8")


def add_options(parser):
    """Add the options of `seqattn export`."""
    parser.usage = "seqattn export RUN OUT [options]"
    add_translator(parser)
    parser.add_argument("out", metavar="OUT", help="new folder; for LiteRT a file")
    parser.add_argument(
        "--weights",
        choices=WEIGHTS,
        default="float32",
        help="store weights as float32, in 16 bits (bfloat16 in a SavedModel, float16 "
        "in LiteRT), or as int8 (default: %(default)s)",
    )
    _add_saved_model(parser.add_argument_group("SavedModel"))
    _add_litert(parser.add_argument_group("LiteRT"))
    add_search(parser, has_batches=False)


def _add_saved_model(group):
    group.add_argument(
        "--version", type=int, metavar="N", help="write into the folder OUT/N"
    )
    group.add_argument(
        "--warmup",
        metavar="FILE",
        help="texts, one per line, with which TensorFlow Serving warms up "
        "(default: some frequent words)",
    )
    group.add_argument(
        "--note",
        nargs="+",
        action=NamedValues,
        metavar="NAME=VALUE",
        help="more fields for manifest.json",
    )


def _add_litert(group):
    group.add_argument(
        "--litert", action="store_true", help="write one file for devices"
    )
    group.add_argument(
        "--source-length",
        type=int,
        metavar="N",
        help="maximum number of tokens of a text, its end token included",
    )
    group.add_argument(
        "--target-length",
        type=int,
        metavar="N",
        help="maximum number of tokens of a translation, its end token included",
    )
    group.add_argument(
        "--batch", type=int, metavar="N", help="texts in every batch (default: 1)"
    )
