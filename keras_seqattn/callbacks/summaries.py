"""Numbers and sample translations for TensorBoard."""

import html
import re
import warnings

import tensorflow as tf

from keras_seqattn.callbacks.samples import Samples


class Summaries:
    """Writes to the scalars and the text tab.

    A disk that is full ends the logs, not the training.

    Args:
        log_dir: of TensorBoard.
    """

    def __init__(self, log_dir):
        self.log_dir, self.writer, self.is_broken = str(log_dir), None, False

    def write(self, step, scalars, samples):
        """`{name: number}`, and rows `(source, translation, reference)`."""
        if self.is_broken:
            return
        try:
            self._write(step, scalars, samples)
        except (tf.errors.OpError, OSError) as error:
            self.is_broken, self.writer = True, None
            first, *_ = str(error).splitlines() or [""]
            warnings.warn(
                "Validation could not write its logs. Expected a folder to write in, "
                f"received {first} for {self.log_dir!r}. The training goes on without "
                "them.",
                RuntimeWarning,
                stacklevel=2,
            )

    def _write(self, step, scalars, samples):
        if self.writer is None:
            self.writer = tf.summary.create_file_writer(self.log_dir)
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
