"""The callback that writes alignments for TensorBoard during training."""

import dataclasses
import warnings
from functools import partial

import keras
import tensorflow as tf

from keras_seqattn.callbacks.attention_checks import (
    check_alignments,
    check_gold,
    check_options,
    check_projector,
    check_texts,
    check_translator,
    create_run_folder,
)
from keras_seqattn.callbacks.final_weights import final_weights
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.errors import four_parts
from keras_seqattn.pictures.probe import Probe
from keras_seqattn.tensorboard import record
from keras_seqattn.tensorboard.projector import write_vocabularies


class AttentionCallback(keras.callbacks.Callback):
    """Shows in TensorBoard how the alignments of some sentences change in training.

    After every epoch, or every few, it translates the same sentences and writes their
    alignments for the tab "Attention". It shows the hypotheses of the search. With
    references it also shows the alignments of the references (teacher forcing). Each
    head and each hypothesis is shown separately; of a Transformer also each layer, and
    the self-attention of both sides. A table compares the sentences by the numbers of
    `alignment_confidence` and others.

    It writes into the run `validation` of the folder. The step is the number of epochs:
    step 3 is after the epoch that `fit` prints as 3. You can use
    `keras.callbacks.TensorBoard(log_dir)` at the same time, which counts epochs from 0.
    With `use_ema` in the optimizer, the moving average of the weights is shown,
    as in `Validation`. If an error happens during training, there is a warning, and the
    training continues without alignments.

    Args:
        translator: a `Translator` with the model that is trained.
        sentences: list of str.
        references: list of str, a translation for each sentence; None: no teacher
            forcing.
        gold: `GoldLinks` between the words of each sentence and its reference, see
            `read_alignments`; None: there are none.
        log_dir: folder of TensorBoard's logs.
        every: number of epochs from one translation to the next.
        beam: number of hypotheses to show, and width of the beam search that finds
            them; None: use the search of the translator.
        name: first part of the tags.
        projector: whether to write the embeddings for the projector when training ends.
        alignments: names of `Seq2Seq.alignment_names`, to log these beside the one that
            the search returns; an empty list: only that one; None: all. All are logged
            for the first sentences only, up to 2 million weights (a few megabytes) at
            a step; those that you name are logged for every sentence.

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
        alignments=None,
    ):
        super().__init__()
        check_translator(translator)
        sentences, references = check_texts(sentences, references)
        gold = check_gold(gold, sentences, references)
        check_options(every, beam, name)
        self.translator, self.every, self.name = translator, every, name
        search = _search(translator.search, beam)
        alignments = check_alignments(translator.model, alignments)
        about = sentences, references, gold, alignments
        self.probe = Probe(translator, search, *about)
        if projector:
            check_projector(translator.model)
        self.projector = bool(projector)
        self.folder = create_run_folder(log_dir)
        self.tags = [f"{name}/{i:03d}" for i in range(len(sentences))]
        self._writer, self._known, self._broken = None, set(), False

    def write(self, step):
        """Write alignments now; for custom training loops.

        Args:
            step: an integer.
        """
        pictures = self.probe.pictures()
        if self._writer is None:
            self._open()
        data = self._summary(pictures).SerializeToString()
        # Record this step, whatever `record_if` surrounds us.
        with self._writer.as_default(), tf.summary.record_if(True):
            tf.summary.experimental.write_raw_pb(data, step)
        self._writer.flush()

    def close(self):
        """Close the file; `fit` does this at its end."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _open(self):
        self._writer, self._known = tf.summary.create_file_writer(self.folder), set()

    def _summary(self, pictures):
        """All tags of one step; new ones have the content that never changes."""
        summary = tf.compat.v1.Summary()

        def add(tag, value, content):
            is_new = tag not in self._known
            record.add_value(summary, tag, value, content() if is_new else None)
            self._known.add(tag)

        for tag, picture in zip(self.tags, pictures, strict=True):
            add(tag, record.record(picture), partial(record.content, picture))
            for name, one in picture.get("alignments", {}).items():
                content = partial(record.alignment_content, one, tag, name)
                add(f"{tag}/{name}", record.record(one), content)
        rows = {tag: p["metrics"] for tag, p in zip(self.tags, pictures, strict=True)}
        add(f"{self.name}/table", record.table(rows), record.table_content)
        return summary

    # In fit -----------------------------------------------------------------------

    def on_train_begin(self, logs=None):
        self._broken = False
        self._call_safely(self.close)
        # Before Keras's callback makes its file in the same folder: one loader of
        # TensorBoard reads only the last file while it waits for more. So it may miss
        # our pictures, but never the scalars. (--reload_multifile reads all.)
        self._call_safely(self._open)

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            self._call_safely(self._write_final, epoch + 1)

    def on_train_end(self, logs=None):
        if self.projector:
            self._call_safely(write_vocabularies, self.folder, self.translator)
        self._call_safely(self.close)

    def _write_final(self, step):
        with final_weights(self.model):
            self.write(step)

    def _call_safely(self, function, *args):
        """Call a function; after an error, warn, and write no more pictures."""
        if self._broken:
            return
        try:
            function(*args)
        except Exception as error:
            self._broken, self._writer = True, None
            warnings.warn(
                four_parts(
                    "AttentionCallback could not show the alignments",
                    "a model that translates and a folder that can be written to",
                    f"{type(error).__name__}: {error}",
                    "The training continues without them; call `write(step)` to see "
                    "where the error comes from",
                ),
                stacklevel=2,
            )


def _search(search, beam):
    if beam is None:
        return search
    if isinstance(search, BeamSearch):
        return dataclasses.replace(search, width=beam, n_best=beam)
    return BeamSearch(beam, length_penalty=1.0, n_best=beam)
