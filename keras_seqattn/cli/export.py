"""Writes a SavedModel: strings in, strings out, for TensorFlow without this library."""

from keras_seqattn.cli import use_options

HELP = "write a SavedModel, strings to strings"
EXAMPLES = """\
examples:
  seqattn export runs/dates saved_models/dates
  seqattn export runs/de saved_models/de --beam 1

It needs TensorFlow and tensorflow-text to run, nothing else:
  import tensorflow as tf, tensorflow_text
  model = tf.saved_model.load("saved_models/dates")
  model.signatures["serving_default"](tf.constant(["3 May 2001"]))["text"]
"""


def configure(parser):
    """Adds its options."""
    use_options.add_translator(parser)
    parser.add_argument("out", metavar="OUT", help="new folder")
    use_options.add_search(parser, batches=False)


def run(parsed):
    """Exports."""
    from keras_seqattn.cli import translators
    from keras_seqattn.cli.progress import note, working

    translator = translators.load(
        parsed.run, parsed.beam, length_penalty=parsed.length_penalty
    )
    with working("exporting"):
        translator.export(parsed.out)
    note(f"{parsed.out} has the signatures serving_default, from text to text and")
    note("score, and translate_with_attention, to everything about a translation")
