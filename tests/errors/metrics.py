"""Metrics and callbacks with unusable arguments or files, and their errors."""

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np

import keras_seqattn as ks
from keras_seqattn.callbacks import DivergenceGuard
from keras_seqattn.callbacks.validation_folder import ValidationFolder
from keras_seqattn.callbacks.validation_record import ValidationRecord
from keras_seqattn.files import replacing
from keras_seqattn.metrics import (
    alignment_confidence,
    alignment_error_rate,
    alignment_links,
    bleu,
    merge_subwords,
    read_alignments,
    text_scores,
)
from keras_seqattn.metrics.text_metric import text_metric
from keras_seqattn.metrics.token_metrics import TokenMean
from tests.callbacks.translators import PAIRS, Scripted, validation

HERE = Path(__file__)
GOLD = ks.metrics.GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0)}))


class Mute(TokenMean):
    """Measures nothing."""


def without_sacrebleu(call):
    with mock.patch.dict(sys.modules, {"sacrebleu.metrics": None}):
        call()


def validate(**options):
    validation(Scripted(), **options)


def without_mecab(tokenize):
    def missing(**options):
        raise RuntimeError("Please install them like so.")

    missing.TOKENIZERS = [tokenize]
    module = SimpleNamespace(BLEU=missing)
    with mock.patch.object(text_scores, "sacrebleu_metrics", lambda: module):
        bleu(["a"], ["a"], tokenize=tokenize)


def read(path):
    ValidationRecord(text_metric("bleu")).read(path)


def read_text(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "validation.json")
        path.write_text(text)
        read(path)


def read_entry(text):
    read_text(f'{{"metric": "bleu", "entries": [{{"step": 1, {text}}}]}}')


def resume(folder):
    folder.record_path = mock.Mock()
    record = ValidationRecord(text_metric("bleu"))
    record.read = lambda path: record.add(3, {"bleu": 1.0}, True)
    folder.resume(record, 5)


def with_damaged_best():
    with tempfile.TemporaryDirectory() as folder:
        folder = ValidationFolder(folder, None, 0)
        with replacing(folder.best_path, with_checksum=True) as part:
            part.write_text("weights")
        folder.best_path.write_text("wEights")
        resume(folder)


def diverge():
    guard = DivergenceGuard()
    optimizer = SimpleNamespace(iterations=7)
    guard.set_model(SimpleNamespace(optimizer=optimizer))
    guard.on_train_begin()
    guard.on_epoch_begin(1)
    guard.on_train_batch_end(0, {"loss": 2.0})
    guard.on_train_batch_end(1, {"loss": 201.0})


def from_step_0():
    folder = ValidationFolder(".", None, 0)
    folder.record_path = HERE  # any file that is there
    folder.resume(None, 0)


TEXTS = {
    "Mute does not define what it measures ... measure(y_true, y_pred)": lambda: Mute(
        "mute"
    ).update_state(np.zeros((1, 1)), np.zeros((1, 1, 2))),
    "bleu got a single string as its hypotheses ... 'a'. Put": lambda: bleu("a", ["a"]),
    "bleu got hypotheses and references of different number. Expected one or more "
    "hypotheses, and for each a reference or a list of references, received 1 "
    "hypotheses and 2 references. Check the files: a line may be "
    "missing.": lambda: bleu(["a"], ["a", "b"]),
    "bleu got an unknown tokenize ... received '14a'. Use '13a', the nearest": lambda: (
        bleu(["a"], ["a"], tokenize="14a")
    ),
    "chrf got hypotheses ... 0 hypotheses and 0": lambda: ks.metrics.chrf([], []),
    "exact_match got something to compare that is not a string. Expected strings, "
    "received b'a' and ('a',) at position 0. Decode bytes, and pass a reference for "
    "every hypothesis.": lambda: ks.metrics.exact_match([b"a"], ["a"]),
    "word_error_rate got something to compare that is not a string ... 'a' and "
    "()": lambda: ks.metrics.word_error_rate(["a"], [[]]),
    "token_error_rate got something to compare that is not a ... ('a', None) at "
    "position 0": lambda: ks.metrics.token_error_rate(["a"], [["a", None]]),
    "bleu needs a package that is not installed. Expected the package of "
    "tokenize='ja-mecab', received \"Please install them like so.\". Run pip install "
    '"sacrebleu[ja]"; another tokenizer needs none.': lambda: without_mecab("ja-mecab"),
    'bleu needs a package ... "sacrebleu[ko]"': lambda: without_mecab("ko-mecab"),
    'bleu needs a package ... "sentencepiece"': lambda: without_mecab("spm"),
    "text_metric got an unknown metric ... one of bleu, chrf, exact_match, per, "
    "tokenized_bleu, wer, or a TextMetric ... received 'blue'. Use 'bleu', the "
    "nearest, or wrap a custom function: ": lambda: text_metric("blue"),
    "text_metric got an unknown metric ... received 3. Wrap": lambda: text_metric(3),
}
ALIGNMENTS = {
    "read_alignments got something that ... from 0, received '2+2' in line 2. Check "
    "the format, and one_based": lambda: read_alignments(["0-0", "1-1 2+2"]),
    "read_alignments got something that ... from 1, received '0-1' in line 1. Check "
    "the format, and one_based": lambda: read_alignments(["0-1"], one_based=True),
    "alignment_links got an unusable alignment. Expected [target, source] of one "
    "sentence pair, received shape (2, 3, 4). Pass one sentence, and average over "
    "heads.": lambda: alignment_links(np.ones((2, 3, 4))),
    "alignment_links got numbers that are not an alignment ... nan to nan. "
    "Pass": lambda: alignment_links([[0.5, float("nan")]]),
    "alignment_confidence got": {
        "an unusable ... (0, 4)": lambda: alignment_confidence(np.ones((0, 4))),
        "numbers that are not an alignment. Expected numbers from 0 to 1, received 0.5 "
        "to 1.5. Pass the alignment of an attention mechanism, after the "
        "softmax.": lambda: alignment_confidence([[0.5, 1.5]]),
        "rows that are not normalised. Expected weights of each target word that sum "
        "to at most 1, received a sum of 1.4. Divide each row by its sum, if the "
        "weights mean shares of attention.": lambda: alignment_confidence([[0.5, 0.9]]),
        "numbers that are ... -0.5 to 0.5": lambda: alignment_confidence([[0.5, -0.5]]),
    },
    "alignment_error_rate got different numbers of sentences ... 1 and 0. Check the "
    "files: a line may be missing": lambda: alignment_error_rate([set()], []),
    "alignment_error_rate got unusable links ... set() and ({(0, 0)}, set()) "
    "at": lambda: alignment_error_rate([set()], [({(0, 0)}, set())]),
    "alignment_error_rate got unusable links ... "
    "[(0, 0)] and GoldLinks(sure= ... at position 1": lambda: alignment_error_rate(
        [set(), [(0, 0)]], 2 * [GOLD]
    ),
    "merge_subwords got unusable source_words ... 3 subwords ... [0, 0, 2]. "
    "Use": lambda: merge_subwords(np.ones((2, 3)), [0, 0, 2], [0, 1]),
    "merge_subwords got unusable target_words ... 2 subwords ... received "
    "[0]": lambda: merge_subwords(np.ones((2, 3)), [0, 0, 1], [0]),
}
CALLBACKS = {
    "Validation got": {
        "an unusable every ... every=0": lambda: validate(every=0),
        "an unusable patience": lambda: validate(patience=0),
        "an unusable average": lambda: validate(average=-1, folder="x"),
        "an unusable samples": lambda: validate(samples=1.5),
        "an unknown unit ... 'batch'": lambda: validate(unit="batch"),
        "an average without ... average=3": lambda: validate(average=3),
        "unusable metrics ... ['wer', 'wer']": lambda: validate(metrics=["wer", "wer"]),
        "an unusable translator ... received 'a translator'. Pass a "
        "Translator": lambda: ks.callbacks.Validation("a translator", PAIRS),
        "a translator of another model. Expected a translator whose model is trained "
        "by this fit, received a translator of <Sequential ... >, which shares no "
        "weight with the trained <Sequential ... Call translator.model.fit("
        "...)": lambda: Scripted().fit(validation(Scripted()), 1),
        "something that is not a pair ... ('a', 'b', 'c') at position 0": lambda: (
            ks.callbacks.Validation(Scripted(), [("a", "b", "c")])
        ),
        "no pairs ... an empty list": lambda: ks.callbacks.Validation(Scripted(), []),
        "the folder of another training ... 'bleu', received ' ... /validation.json' "
        "with 'chrf'": lambda: read_text('{"metric": "chrf", "entries": []}'),
        "damaged best weights ... the checksum in best.weights.h5.sha256, received "
        "other content of ' ... /best.weights.h5'": with_damaged_best,
    },
    "Validation got the folder of another training ... "
    f"step 0, received a folder with {str(HERE)!r}": from_step_0,
    "Validation got a record that it cannot read. Expected a file that Validation "
    f"wrote, received {str(HERE)!r}. Delete the file: the weights beside it stay, "
    "only the best value is forgotten.": lambda: read(HERE),
    "Validation got a folder without its best weights ... "
    f"{str(Path('none', 'best.weights.h5'))!r}, because": lambda: resume(
        ValidationFolder("none", None, 0)
    ),
    "The loss has diverged. Expected finite weights and a loss of at most 200, 100 "
    "times the first loss, received a loss of 201 in step 7 of epoch 2; the last good "
    "loss was 2 in step 7. Lower the learning rate, add a warm-up, or clip the "
    "gradients.": diverge,
    "DivergenceGuard got an unknown ... 'ignore'": lambda: DivergenceGuard("ignore"),
    "DivergenceGuard got an unusable ... factor=1": lambda: DivergenceGuard(factor=1),
}
METRICS = [TEXTS, ALIGNMENTS, CALLBACKS]

# One text, several calls.
SEVERAL = {
    "bleu or chrf needs a package that is not installed. Expected sacrebleu, received "
    "... Run pip install "
    '"keras_seqattn[metrics]", or in a checkout pip install -e ".[metrics]"': [
        lambda: without_sacrebleu(lambda: ks.metrics.chrf(["a"], ["a"])),
        lambda: without_sacrebleu(lambda: validate(metrics=("exact_match", "bleu"))),
        lambda: without_sacrebleu(lambda: validate(metrics=["tokenized_bleu"])),
        lambda: without_sacrebleu(lambda: validate(metrics=["chrf"])),
    ],
    "Validation got a record that it cannot read ... /validation.json'": [
        lambda: read_entry('"values": {"bleu": 3.0}'),
        lambda: read_entry('"values": {"per": 3}, "best": true'),
    ],
}
