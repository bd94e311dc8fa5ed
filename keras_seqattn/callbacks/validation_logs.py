"""The values and sample translations of a validation, written for TensorBoard."""

import html
import re
import warnings

import tensorflow as tf

from keras_seqattn.callbacks.sample_translations import SampleTranslations
from keras_seqattn.errors import four_parts


class ValidationLogs:
    """Writes scalars, and texts for the text tab.

    If the disk is full, there is a warning and no more logs; the training continues.

    Args:
        log_dir: folder of TensorBoard's logs.
    """

    def __init__(self, log_dir):
        self.log_dir, self.writer, self.is_broken = str(log_dir), None, False

    def write(self, step, scalars, samples):
        """Write `{name: number}` and rows `(source, translation, reference)`."""
        if self.is_broken:
            return
        try:
            self._write(step, scalars, samples)
        except (tf.errors.OpError, OSError) as error:
            self.is_broken, self.writer = True, None
            first, *_ = str(error).splitlines() or [""]
            warnings.warn(
                four_parts(
                    "Validation could not write its logs",
                    "a folder that can be written to",
                    f"{first} for {self.log_dir!r}",
                    "The training continues without logs",
                ),
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
                tf.summary.text("samples", [list(SampleTranslations.head), *rows])
        self.writer.flush()


def _escaped(text):
    """Escape a text for the tab, which reads Markdown."""
    text = html.escape(" ".join(text.split()), quote=False)
    return re.sub(r"([\\`*_{}\[\]()#+.!|-])", r"\\\1", text)
