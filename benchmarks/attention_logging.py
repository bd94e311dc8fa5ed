"""What AttentionCallback adds to an epoch of Multi30k.

The reference model with eight sentences of the validation set and their references, the
translator's own beam of five. Both sides train the same batches from the same weights:
the callback may change no weight. KERAS_SEQATTN_DATA names the folder with the corpus
in `multi30k`.
"""

import tempfile

import keras
import numpy as np

import keras_seqattn as ks
from benchmarks.reference import EMBEDDING, UNITS, VOCABULARY
from benchmarks.registry import Contender, Contest, Tolerance, benchmark

BATCH_TOKENS = 1500  # 64 sentences
BATCHES = 16  # in one repetition: few, so that the callback is seen beside them
SENTENCES = 8


@benchmark
def attention_logging():
    """Some batches of Multi30k, then the pictures of eight sentences."""
    task = ks.data.multi30k()
    text = ks.SentencePiece.learn(
        task.train.source + task.train.target, VOCABULARY, kind="bpe"
    )
    dataset = ks.data.batches(
        ks.data.encode(task.train, text, text), BATCH_TOKENS, seed=1409
    )
    batches = dataset.take(BATCHES).cache()
    times = len(dataset) / BATCHES
    probe = task.validation.select(range(SENTENCES))
    logs = tempfile.mkdtemp()

    def shown(translator):
        return [
            ks.AttentionCallback(translator, probe.source, probe.target, log_dir=logs)
        ]

    note = (
        f"{BATCHES} of {len(dataset)} batches: what it adds to a whole epoch is the "
        f"part of ours/it above 1, divided by {times:.0f}"
    )
    return Contest(
        _contender("with the callback", text, batches, shown),
        [_contender("without it", text, batches, lambda translator: [])],
        [Tolerance("loss", 1e-6), Tolerance("weight", 1e-4)],
        notes=(note,),
    )


def _contender(name, text, batches, callbacks):
    translator = _translator(text)
    callbacks = callbacks(translator)

    def epoch():
        return translator.model.fit(
            batches, shuffle=False, callbacks=callbacks, verbose=0
        )

    def results():
        losses = [epoch().history["loss"] for _ in range(2)]
        weights = translator.model.weights
        return {
            "losses": np.array(losses),
            **{f"weight {i}": np.array(w) for i, w in enumerate(weights)},
        }

    return Contender(name, epoch, results)


def _translator(text):
    keras.utils.set_random_seed(1409)
    cell = ks.BahdanauCell(UNITS, attention=ks.BahdanauAttention(UNITS), cell="gru")
    model = ks.Seq2Seq(
        source_embedding=keras.layers.Embedding(VOCABULARY, EMBEDDING),
        encoder=ks.BiEncoder(UNITS, cell="gru"),
        bridge=ks.DenseBridge(UNITS),
        target_embedding=keras.layers.Embedding(VOCABULARY, EMBEDDING),
        decoder=ks.AttentionDecoder(cell),
        head=ks.OutputHead(VOCABULARY),
    )
    model.compile("adam", ks.SmoothedCrossentropy())
    return ks.Translator(model, text, text)
