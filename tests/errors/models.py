"""Parts, losses and data that do not fit a model of tokens, and their errors."""

import functools
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import keras_seqattn as ks
from tests.errors.valid_arguments import UNITS, bahdanau_cell

SOURCE = np.array([[5, 6, 2], [7, 2, 0]])
TARGET = np.array([[1, 7, 8], [1, 4, 0]])
LABELS = np.array([[7, 8, 2], [4, 2, 0]])
PAIRS = ks.data.Pairs(["a"], ["b"])
BOTH = ("logits", "alignment")
INPUTS, ONE_HOT = {"source": SOURCE, "target": TARGET}, np.eye(9)[LABELS]


def seq2seq(source_embedding=None, encoder=None, decoder=None, head=None, **options):
    return ks.Seq2Seq(
        source_embedding or layers.Embedding(9, 4),
        encoder or ks.BiEncoder(UNITS, cell="gru"),
        decoder or ks.AttentionDecoder(bahdanau_cell()),
        head or ks.layers.OutputHead(9),
        **options,
    )


@functools.cache
def compiled(loss="auto"):
    model = seq2seq()
    model.compile(loss=loss)
    return model


def dataset(source=SOURCE, target=TARGET, labels=LABELS):
    return tf.data.Dataset.from_tensors(({"source": source, "target": target}, labels))


def generator(good, *batch):
    """Yield good batches, then this one."""
    yield from [(INPUTS, LABELS)] * good
    yield batch


class Halves(keras.utils.PyDataset):
    def __len__(self):
        return 1

    def __getitem__(self, number):
        return {**INPUTS, "source": SOURCE / 2}, LABELS


def put(ids, value):
    """Return a copy in which the first id is another one."""
    return np.where(np.arange(ids.size).reshape(ids.shape) == 0, value, ids)


# Calls, as rows of a table want them --------------------------------------------------


def make(**parts):
    return lambda: seq2seq(**parts)


def reading(names):
    head = layers.Dense(9)
    head.reads = names
    return head


def with_outputs(loss, **options):
    return lambda: seq2seq(outputs=BOTH).compile("sgd", loss, **options)


def fit_alignments(data):
    model = seq2seq(outputs=BOTH)
    model.compile("sgd", {"logits": "auto", "alignment": "mse"})
    return model.fit(data)


def with_optimizer(optimizer="sgd", loss="auto"):
    return lambda: seq2seq().compile(optimizer, loss)


def with_metrics(metrics):
    return lambda: seq2seq().compile("sgd", "auto", metrics=metrics)


def weights_of_another_size():
    smaller = seq2seq(layers.Embedding(5, 4), head=ks.layers.OutputHead(5))
    with tempfile.TemporaryDirectory() as folder:
        smaller.save_weights(path := f"{folder}/smaller.weights.h5")
        seq2seq().load_weights(path)


def fit_without_loss():
    model = seq2seq()
    model.compile("sgd")
    model.fit(INPUTS, LABELS)


def fit(source=SOURCE, target=TARGET, labels=LABELS, **options):
    inputs = {"source": source, "target": target}
    return lambda: compiled().fit(inputs, labels, **options)


def fit_batches(data, loss="auto"):
    return lambda: compiled(loss).fit(data, shuffle=False, verbose=0)


def call(inputs):
    return lambda: compiled()(inputs)


BI_GRU = layers.Bidirectional(layers.GRU(4, return_sequences=True))
TWO_SOFTMAX = keras.Sequential([layers.TimeDistributed(layers.Softmax())])
LSTM_DECODER = ks.AttentionDecoder(bahdanau_cell("lstm"))
CONTEXT_DECODER = ks.AttentionDecoder(ks.layers.ContextCell(UNITS))
POOLED = [keras.Input((None, 6)), layers.GlobalAveragePooling1D()]
POOLED = keras.Sequential(POOLED)
NUMBERS = keras.Sequential([keras.Input((None, 5)), layers.Dense(4)])
PARTS = {
    "an unusable embedding": make(source_embedding="words"),
    "an unusable source_embedding ... 'words'": make(
        source_embedding="words", target_embedding=layers.Embedding(9, 4)
    ),
    "a source_embedding that does not make sequences of vectors ... which makes (None, "
    "6). Pass": make(source_embedding=POOLED, target_embedding=layers.Embedding(9, 4)),
    "a bridge that its decoder cannot use ... received <DenseBridge": make(
        decoder=ks.layers.TransformerDecoder(4, heads=2),
        bridge=ks.layers.DenseBridge(4),
    ),
    "an unusable target_word_dropout ... target_word_dropout=1.0. Use 0 to switch "
    "it off": make(target_word_dropout=1.0),
    "an unusable encoder. Expected a layer that returns Encoded(values, mask, state), "
    "received <Bidirectional ... Use BiEncoder(4, cell='gru'), or": make(
        encoder=BI_GRU
    ),
    "an unusable encoder ... Use UniEncoder(4, cell='lstm')": make(
        encoder=layers.LSTM(4)
    ),
    "an unusable encoder ... <Dense ... which returns (None, None, 4). Use "
    "BiEncoder(256), or": make(encoder=layers.Dense(4)),
    "a cell as decoder ... <BahdanauCell ... Pass AttentionDecoder(BahdanauCell(3, "
    "...))": make(decoder=bahdanau_cell()),
    "an unusable decoder ... <LSTM ... Pass AttentionDecoder(BahdanauCell(256, "
    "BahdanauAttention(256)))": make(decoder=layers.LSTM(4)),
    "a bridge that does not fit its decoder. Expected the sizes of the decoder's "
    "state, 3, received 6 from CopyBridge. Pass "
    "bridge=DenseBridge(3).": make(bridge=ks.layers.CopyBridge()),
    "a bridge that does not fit its decoder ... [3, 3], received 3 from DenseBridge. "
    "Pass bridge=DenseBridge([3, 3])": make(
        decoder=LSTM_DECODER, bridge=ks.layers.DenseBridge(3)
    ),
    "an unusable bridge ... 'copy'. Pass e.g. DenseBridge": make(bridge="copy"),
    "a ContextCell without a bridge ... =DenseBridge(3)": make(decoder=CONTEXT_DECODER),
    "an unusable head with a softmax ... <Dense ... Drop the softmax": make(
        head=layers.Dense(9, activation="softmax")
    ),
    "an unusable head with a softmax ... <Sequential": make(head=TWO_SOFTMAX),
    "an unusable head. ... OutputHead(vocab": make(head=ks.layers.OutputHead),
    "a part that has its weights already ... a new OutputHead": lambda: seq2seq(
        head=compiled().head
    ),
    "an unusable pad ... pad='0'. Pass the id": make(pad="0"),
    "an unusable source_pad ... source_pad=1.5. Pass": make(source_pad=1.5),
    "a source_embedding that masks another id than source_pad ... mask_zero=True and "
    "source_pad=1. Drop": make(
        source_embedding=layers.Embedding(9, 4, mask_zero=True), source_pad=1
    ),
    "a head that reads something unknown. Expected a tuple of some of ['outputs', "
    "'inputs', 'alignment', 'source'] as its attribute `reads`, received "
    "reads='source' of Dense. Name": make(head=reading("source")),
    "a head that reads something unknown ... reads=('context',)": make(
        head=reading(("context",))
    ),
    "a head that reads the ids of a source without ids ... Dense with reads=("
    "'outputs', 'source'). Use": make(
        source_embedding=NUMBERS,
        target_embedding=layers.Embedding(9, 4),
        head=reading(("outputs", "source")),
    ),
    "unusable outputs ... outputs='alignment'. Pass": make(outputs="alignment"),
    "unusable outputs ... outputs=('logits', 'state')": make(
        outputs=("logits", "state")
    ),
    "a head with more tokens ... at most 9 logits, received 10. Give": make(
        head=ks.layers.OutputHead(10)
    ),
}
COMPILED = {
    "an unknown optimizer ... 'adm'. Use 'adam', the nearest": with_optimizer("adm"),
    "a number as optimizer ... e.g. keras.optimizers.Adam(0.1)": with_optimizer(0.1),
    "a class in place of an optimizer ... the class Adam. Pass an object, e.g. "
    "Adam(": with_optimizer(keras.optimizers.Adam),
    "a class in place of a loss ... FusedCrossentropy. Pass": with_optimizer(
        loss=ks.losses.FusedCrossentropy
    ),
    "an unknown loss. Expected one of auto, categorical_crossentropy, "
    "sparse_categorical_crossentropy, received 'sparse'": with_optimizer(loss="sparse"),
    "a loss that does not fit tokens. Expected a cross-entropy of logits, received "
    "'mse'. Pass loss=\"auto\"": with_optimizer(loss="mse"),
    "a loss that does not fit tokens ... received MeanSquaredError": with_optimizer(
        loss=keras.losses.MeanSquaredError()
    ),
    "a metric that does not fit token ids ... received 'categorical_accuracy'. Pass "
    "weighted_metrics=[metrics.TokenAccuracy(), metrics.Perplexity()]": with_metrics(
        ["categorical_accuracy"]
    ),
    "a metric that reads logits as ... 'sparse_categorical_cross": with_metrics(
        ["accuracy", "sparse_categorical_crossentropy"]
    ),
    "a metric that does not ... <AUC": with_metrics({"m": keras.metrics.AUC()}),
    "no labels for alignment. Expected a dict of labels for ['logits', 'alignment'], "
    "received a dict of ['logits']. Pass": lambda: fit_alignments(
        dataset(labels={"logits": LABELS})
    ),
    "an unknown metric ... 'bleu'. Texts have this metric": with_metrics(["bleu"]),
    "an unknown metric ... 'acuracy'. Use 'accuracy'": with_metrics(["acuracy"]),
    "an unknown metric ... 'loss_x'. Pass": with_metrics(["loss_x"]),
    "metrics that are not a list ... 'accuracy'": with_metrics("accuracy"),
    "a class_weight. Expected None ... {1: 2}. Pass weights of tokens instead: "
    "sample_weight=weights[labels]": lambda: compiled().train_on_batch(
        INPUTS, LABELS, None, {1: 2}
    ),
}
NAMES = {
    "unusable inputs. Expected a dict with the ids 'source' [batch, source] and "
    "'target' [batch, target], received ['source']. Pass the dict {\"source\": source, "
    '"target": target}; to translate a source, call decode.': lambda: (
        compiled().predict({"source": SOURCE})
    ),
    "unusable inputs ... ['source', 'targets'] ... 'targets' seems to be "
    "'target'": call({"source": SOURCE, "targets": TARGET}),
    "unusable inputs ... ['source']. Pass": call({"source": SOURCE, "target": None}),
    "unusable inputs ... received list": call([SOURCE, TARGET]),
    "pairs instead of a dataset ... Pairs(1 pair: 'a' -> 'b'). Pass "
    "translator.dataset(pairs": fit_batches(PAIRS),
    "pairs instead ... Pairs(1": lambda: compiled().fit(
        INPUTS, LABELS, validation_data=PAIRS
    ),
    "unusable inputs ... received NoneType": fit_batches(None),
    "unusable inputs ... ndarray of shape (2, 3). Pass": fit_batches(SOURCE),
    "unusable inputs ... ndarray ... Put the inputs first": fit_batches(
        generator(0, LABELS, INPUTS)
    ),
}
IDS = {
    "target of the wrong rank ... (3,). Give a single": fit(target=TARGET[0]),
    "inputs of different batch sizes ... 2 of source and 1 of target": fit(
        target=TARGET[:1]
    ),
    "source ids that are not integers. Expected integers [batch, source], received "
    "dtype float64. Pass the ids of a text processor; whole numbers become integers "
    "with ids.astype('int32').": fit(SOURCE / 2),
    "source ids that are not integers ... float64": lambda: ks.decode(
        ks.decoding.Ensemble([compiled()]), SOURCE / 2, ks.Greedy(), 3
    ),
    "source ids that are not integers ... dtype float64": fit_batches(Halves()),
    "target ids that are not integers ... float64": lambda: ks.decoding.score(
        compiled(), SOURCE, TARGET / 2
    ),
    "target ids that are not integers ... dtype float64": fit_batches(
        dataset(target=TARGET / 1)
    ),
    "source ids that are text ... 'a b'. Encode": fit(np.array(["a b", "c"])),
    "source ids that are text ... 'a'": fit([["a"], ["b", "c"]]),
    "an id too large. Expected ids from 0 to 8, received 9 at source[0, 0]. Encode the "
    "texts with the processor that belongs to the model, or build the model for a "
    "larger vocabulary.": fit(put(SOURCE, 9)),
    "an id too large ... 12 at target[1, 1]": fit(target=[[1], [1, 12, 12]]),
    "a negative id ... -1 at source[0, 0]. Pad with the id 0": fit(
        validation_data=({**INPUTS, "source": put(SOURCE, -1)}, LABELS)
    ),
    # Only a running step can see these:
    "an id too large ... from 0 to 8, received 10 in a batch of source": fit_batches(
        dataset(put(SOURCE, 10))
    ),
    "an id too large ... 9 in a batch": fit_batches(dataset(labels=put(LABELS, 9))),
    "a negative id ... -1 in a batch": fit_batches(dataset(put(SOURCE, -1))),
    "an id too large ... 9 at source[0, 0]": fit_batches(
        generator(4, {**INPUTS, "source": put(SOURCE, 9)}, LABELS)
    ),
}
ONES = "categorical_crossentropy"
LABELLED = {
    "unusable labels ... received none. Pass them after": fit(labels=None),
    "unusable labels ... a dict of ['y']": fit_batches(dataset(labels={"y": LABELS})),
    "a sample_weight that does not fit its labels. Expected a weight for each token, "
    "(2, 3), or for each sentence, (2,), received shape (3,). For": fit(
        sample_weight=np.ones(3)
    ),
    "labels with three axes ... (2, 3, 9). Pass labels.argmax": fit(labels=ONE_HOT),
    "labels with three axes ... (2, 3, 9)": fit_batches(dataset(labels=ONE_HOT)),
    "labels of another shape ... (2, 3), received shape (2, 2). Shift": fit(
        labels=LABELS[:, 1:]
    ),
    "ids as labels of a loss that wants one-hot labels ... (2, 3). Keep": fit_batches(
        generator(0, INPUTS, LABELS), ONES
    ),
    "ids as labels of a loss ... (2, 3)": fit_batches(dataset(), ONES),
    "labels that are not integers": fit(labels=LABELS / 2),
    "a negative id ... -1 at labels[0, 0]": fit(labels=put(LABELS, -1)),
}
FILES = {
    "... received 'x.h5'. Save 'x.keras', or": lambda: compiled().save("x.h5"),
    "... received 'x'": lambda: compiled().save("x"),
}
FIT = {
    "an unknown argument ... received 'epoch'. Use 'epochs'": fit(epoch=1),
    "an unusable batch_size ... batch_size=0": fit(batch_size=0),
    "an unusable epochs ... epochs='3'": fit(epochs="3"),
    "something that is not a callback ... DivergenceGuard'>. Pass an object, e.g. "
    "DivergenceGuard(...)": fit(callbacks=[ks.callbacks.DivergenceGuard]),
}
OTHERS = {
    "Seq2Seq.fit has no loss to compute ... loss=None. Call": fit_without_loss,
    "Seq2Seq.compile got an unknown argument ... 'metric'. Use 'metrics'": lambda: (
        seq2seq().compile("sgd", "auto", metric=[])
    ),
    "Seq2Seq.compile got a dict of losses ... ['logits']. Pass loss=\"auto\", or "
    "build the model with outputs=": with_optimizer(loss={"logits": "auto"}),
    "Seq2Seq.compile got a list as loss_weights ... [1, 2]": with_outputs(
        "auto", loss_weights=[1, 2]
    ),
    "Seq2Seq.compile got an unknown output in loss ... 'alignments'. Use 'alignment'": (
        with_outputs({"alignments": "mse"})
    ),
    "Seq2Seq.compile got an unusable loss for 'alignment' ... 'auto'. Pass": (
        with_outputs({"alignment": "auto"})
    ),
    "Seq2Seq.load_weights did not find a file ... 'none.weights.h5'. Check": lambda: (
        seq2seq().load_weights("none.weights.h5")
    ),
    "Seq2Seq.load_weights got weights that do not fit the model ... Build": lambda: (
        seq2seq().load_weights(__file__)
    ),
    "Seq2Seq.load_weights got weights ... with head/projection/vars/0 of shape (9, 5), "
    "not (9, 9). Build the model with": weights_of_another_size,
    "Translator.fit_pairs got callbacks that are not a list": lambda: (
        ks.Translator.fit_pairs([("a", "b")], callbacks=ks.callbacks.DivergenceGuard())
    ),
}
MODELS = [
    {"Seq2Seq.fit got": FIT},
    OTHERS,
    {"Seq2Seq got": {**PARTS, **COMPILED, **NAMES, **IDS, **LABELLED}},
    {"Seq2Seq.save got an unusable file name": FILES},
    {"Token ids are nested in an unusable way ... [2, 3] axes": fit([[5, 6], [[7]]])},
]
