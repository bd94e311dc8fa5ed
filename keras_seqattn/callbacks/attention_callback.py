"""Writes what a model looks at, while it is trained."""

import dataclasses
import warnings

import keras
import tensorflow as tf

from keras_seqattn.callbacks.attention_checks import (
    check_gold,
    check_options,
    check_projector,
    check_texts,
    check_translator,
    made_run,
)
from keras_seqattn.callbacks.moving_average import final_weights
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.pictures.probe import Probe
from keras_seqattn.tensorboard import record
from keras_seqattn.tensorboard.projector import write_vocabularies


class AttentionCallback(keras.callbacks.Callback):
    """Shows in TensorBoard how the alignments of some sentences come to be.

    Now and then it translates them, always the same ones, and writes the alignments for
    the tab "Attention": of what the search finds and, where there are references, of
    the model made to say those (teacher forcing), every head and hypothesis by itself.
    A table compares the sentences by the numbers of `alignment_confidence` and others.

    It writes into the run `validation` of the folder, at step = epoch, counted from 0:
    as `keras.callbacks.TensorBoard(log_dir)` does, which may stand beside it. With
    `use_ema` in the optimizer it is the moving average that is shown, as in
    `Validation`. When something goes wrong during the training, there is a warning and
    no picture any more, but the training goes on.

    Args:
        translator: a `Translator` with the model that is trained.
        sentences: list of str.
        references: list of str, a translation for each; None: no teacher forcing.
        gold: `GoldLinks` between the words of each sentence and its reference, see
            `read_alignments`; None: there are none.
        log_dir: of TensorBoard.
        every: number of epochs from one time to the next.
        beam: how many hypotheses to show, found by a beam search of this width; None:
            those of the translator's own search.
        name: first part of the tags.
        projector: whether to write the embeddings for the projector when training ends.

    Example:
        >>> import tempfile
        >>> words = Words.learn(["one two", "eins zwei"])
        >>> size = words.vocabulary_size
        >>> model = Seq2Seq(
        ...     source_embedding=keras.layers.Embedding(size, 4),
        ...     encoder=BiEncoder(8),
        ...     decoder=AttentionDecoder(
        ...         BahdanauCell(8, attention=BahdanauAttention(8))
        ...     ),
        ...     head=OutputHead(size),
        ... )
        >>> translator = Translator(model, words, words, Greedy(), max_length=5)
        >>> model.compile("adam", SmoothedCrossentropy())
        >>> dataset = translator.dataset(data.Pairs(["one"], ["eins"]), batch_size=1)
        >>> logs = tempfile.TemporaryDirectory()
        >>> shown = AttentionCallback(translator, ["two one"], log_dir=logs.name)
        >>> history = model.fit(dataset, callbacks=[shown], shuffle=False, verbose=0)
        >>> logs.cleanup()
    """

    def __init__(
        self,
        translator,
        sentences,
        references=None,
        gold=None,
        log_dir="logs",
        every=1,
        beam=None,
        name="attention",
        projector=False,
    ):
        super().__init__()
        check_translator(translator)
        sentences, references = check_texts(sentences, references)
        gold = check_gold(gold, sentences, references)
        check_options(every, beam, name)
        self.translator, self.every, self.name = translator, every, name
        search = _search(translator.search, beam)
        self.probe = Probe(translator, search, sentences, references, gold)
        if projector:
            check_projector(translator.model)
        self.projector = bool(projector)
        self.folder = made_run(log_dir)
        self.tags = [f"{name}/{i:03d}" for i in range(len(sentences))]
        self._writer, self._fresh, self._broken = None, True, False

    def write(self, step):
        """Writes pictures now: for training loops of one's own.

        Args:
            step: an integer.
        """
        pictures = self.probe.pictures()
        if self._writer is None:
            self._open()
        data = self._summary(pictures, self._fresh).SerializeToString()
        # Whatever others have said about which steps are recorded.
        with self._writer.as_default(), tf.summary.record_if(True):
            tf.summary.experimental.write_raw_pb(data, step)
        self._writer.flush()
        self._fresh = False

    def close(self):
        """Closes the file; `fit` does it itself."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _open(self):
        self._writer, self._fresh = tf.summary.create_file_writer(self.folder), True

    def _summary(self, pictures, first):
        """All tags of one step; what never changes only the first time."""
        summary = tf.compat.v1.Summary()
        for tag, picture in zip(self.tags, pictures, strict=True):
            content = record.content(picture) if first else None
            record.add_value(summary, tag, record.record(picture), content)
        rows = {tag: p["metrics"] for tag, p in zip(self.tags, pictures, strict=True)}
        content = record.table_content() if first else None
        record.add_value(summary, f"{self.name}/table", record.table(rows), content)
        return summary

    # In fit -----------------------------------------------------------------------

    def on_train_begin(self, logs=None):
        self._broken = False
        self._harmless(self.close)
        # Now, before Keras's callback makes its file in the same folder: one loader of
        # TensorBoard, while it waits for more, looks at the last file only. So what it
        # may miss are pictures, never the scalars. (--reload_multifile helps it.)
        self._harmless(self._open)

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            self._harmless(self._write_final, epoch)

    def on_train_end(self, logs=None):
        if self.projector:
            self._harmless(write_vocabularies, self.folder, self.translator)
        self._harmless(self.close)

    def _write_final(self, step):
        with final_weights(self.model):
            self.write(step)

    def _harmless(self, function, *args):
        """Calls it; an error ends the pictures, not the training."""
        if self._broken:
            return
        try:
            function(*args)
        except Exception as error:
            self._broken, self._writer = True, None
            warnings.warn(
                "AttentionCallback could not show the alignments. Expected a model "
                "that translates and a folder to write in, received "
                f"{type(error).__name__}: {error}. The training goes on without them; "
                "to see where the error comes from, call `write(step)`.",
                stacklevel=2,
            )


def _search(search, beam):
    if beam is None:
        return search
    if isinstance(search, BeamSearch):
        return dataclasses.replace(search, width=beam, n_best=beam)
    return BeamSearch(beam, length_penalty=1.0, n_best=beam)
