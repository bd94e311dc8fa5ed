"""Numbers and sample translations for TensorBoard."""

import html
import re

import tensorflow as tf

from keras_seqattn.training.samples import Samples


class Summaries:
    """Writes to the scalars and the text tab.

    Args:
        log_dir: of TensorBoard.
    """

    def __init__(self, log_dir):
        self.writer = tf.summary.create_file_writer(str(log_dir))

    def write(self, step, scalars, samples):
        """`{name: number}`, and rows `(source, translation, reference)`."""
        with self.writer.as_default(step):
            for name, value in scalars.items():
                tf.summary.scalar(name, value)
            if samples:
                rows = [[_escaped(text) for text in row] for row in samples]
                tf.summary.text("samples", [list(Samples.head), *rows])
        self.writer.flush()


def _escaped(text):
    """The tab reads Markdown, in which spaces and marks mean something."""
    text = html.escape(" ".join(text.split()), quote=False)
    return re.sub(r"([\\`*_{}\[\]()#+.!|-])", r"\\\1", text)
