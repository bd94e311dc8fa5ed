"""Rows of test_training.py: the errors of metrics and callbacks."""

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np

import keras_seqattn as ks
from keras_seqattn.callbacks.validation_folder import ValidationFolder
from keras_seqattn.callbacks.validation_record import ValidationRecord
from keras_seqattn.files import replacing
from keras_seqattn.metrics import text_scores as text_metrics
from keras_seqattn.metrics.text_metric import text_metric
from keras_seqattn.metrics.token_metrics import TokenMean
from tests.callbacks.translators import PAIRS, Scripted, validation

HERE = Path(__file__)
GOLD = ks.metrics.GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0)}))


class Mute(TokenMean):
    """Measures nothing."""


def size(name, received):
    return (
        f"Validation got an unusable {name}. Expected a positive integer, "
        f"received {name}={received!r}. Pass a Python int, 1 or more."
    )


def without_sacrebleu():
    with mock.patch.dict(sys.modules, {"sacrebleu.metrics": None}):
        ks.metrics.chrf(["a"], ["a"])


def check_without_sacrebleu(*metrics):
    with mock.patch.dict(sys.modules, {"sacrebleu.metrics": None}):
        validation(Scripted(), metrics=metrics)


def without_mecab(tokenize):
    def bleu(**options):
        raise RuntimeError("Please install them like so.")

    bleu.TOKENIZERS = [tokenize]
    module = SimpleNamespace(BLEU=bleu)
    with mock.patch.object(text_metrics, "sacrebleu_metrics", lambda: module):
        ks.metrics.bleu(["a"], ["a"], tokenize=tokenize)


def read(path, metric="bleu"):
    ValidationRecord(text_metric(metric)).read(path)


def read_text(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "validation.json")
        path.write_text(text)
        try:
            read(path)
        except ValueError as error:
            error.args = (str(error).replace(folder, "run"),)
            raise


def without_best():
    folder = ValidationFolder("none", None, 0)
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
        folder.record_path = mock.Mock()
        record = ValidationRecord(text_metric("bleu"))
        record.read = lambda path: record.add(3, {"bleu": 1.0}, True)
        try:
            folder.resume(record, 5)
        except ValueError as error:
            error.args = (str(error).replace(str(folder.path), "RUN"),)
            raise


def diverge():
    guard = ks.callbacks.DivergenceGuard()
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


def unreadable(path):
    return (
        "Validation got a record that it cannot read. Expected a file that "
        f"Validation wrote, received {path!r}. Delete the file: the weights "
        "beside it stay, only the best value is forgotten."
    )


def fit(owner, hypotheses, references):
    return (
        f"{owner} got hypotheses and references of different number. Expected "
        "one or more hypotheses, and for each a reference or a list of "
        f"references, received {hypotheses} hypotheses and {references} "
        "references. Check the files: a line may be missing."
    )


def no_text(owner, hypothesis, references):
    return (
        f"{owner} got something to compare that is not a string. Expected "
        f"strings, received {hypothesis!r} and {references!r} at position 0. "
        "Decode bytes, and pass a reference for every hypothesis."
    )


def no_link(text, line, first=0):
    return (
        "read_alignments got something that is not a link. Expected e.g. 0-2, "
        f"0?2 or 0:2 with positions from {first}, received {text!r} in line "
        f"{line}. Check the format, and one_based."
    )


def matrix(owner, shape):
    return (
        f"{owner} got an unusable alignment. Expected [target, source] of one "
        f"sentence pair, received shape {shape}. Pass one sentence, and average "
        "over heads."
    )


def unusable_links(found, known, n):
    return (
        "alignment_error_rate got unusable links. Expected a set of (source, "
        f"target) and GoldLinks of two sets, received {found!r} and {known!r} "
        f"at position {n}. Use alignment_links and read_alignments."
    )


def no_alignment(owner, least, most):
    return (
        f"{owner} got numbers that are not an alignment. Expected numbers from "
        f"0 to 1, received {least} to {most}. Pass the alignment of an "
        "attention mechanism, after the softmax."
    )


def words(side, count, received):
    return (
        f"merge_subwords got unusable {side}_words. Expected the number of a "
        f"word for each of {count} subwords, from 0 without gaps, received "
        f"{received}. Use the same number for all subwords of a word; -1 leaves "
        "a subword out."
    )


def no_tokenizer(tokenize, package):
    return (
        "bleu needs a package that is not installed. Expected the package of "
        f"the tokenizer, received tokenize={tokenize!r} without its package. "
        f'Run pip install "{package}", or choose another tokenizer.'
    )


NO_SACREBLEU = (
    "bleu and chrf need a package that is not installed. Expected sacrebleu, received "
    'an ImportError. Run pip install "keras_seqattn[metrics]".'
)
NO_BEST = '{"metric": "bleu", "entries": [{"step": 1, "values": {"bleu": 3.0}}]}'
NO_BLEU = (
    '{"metric": "bleu", "entries": [{"step": 1, "values": {"per": 3}, "best": true}]}'
)
NAMES = "bleu, chrf, exact_match, per, tokenized_bleu, wer"
TEXTS = [
    (
        lambda: Mute("mute").update_state(np.zeros((1, 1)), np.zeros((1, 1, 2))),
        "Mute does not define what it measures. Expected a method "
        "measure(y_true, y_pred), received a class without it. Write a method "
        "that returns [batch, target].",
    ),
    (lambda: ks.metrics.bleu(["a"], ["a", "b"]), fit("bleu", 1, 2)),
    (lambda: ks.metrics.chrf([], []), fit("chrf", 0, 0)),
    (
        lambda: ks.metrics.exact_match([b"a"], ["a"]),
        no_text("exact_match", b"a", ("a",)),
    ),
    (
        lambda: ks.metrics.word_error_rate(["a"], [[]]),
        no_text("word_error_rate", "a", ()),
    ),
    (
        lambda: ks.metrics.token_error_rate(["a"], [["a", None]]),
        no_text("token_error_rate", "a", ("a", None)),
    ),
    (
        lambda: ks.metrics.bleu(["a"], ["a"], tokenize="14a"),
        "bleu got an unknown tokenize. Expected one of 13a, char, flores101, "
        "flores200, intl, ja-mecab, ko-mecab, none, spBLEU-1K, spm, zh, "
        "received '14a'. Use '13a', the nearest.",
    ),
    (without_sacrebleu, NO_SACREBLEU),
    (lambda: check_without_sacrebleu("exact_match", "bleu"), NO_SACREBLEU),
    (lambda: check_without_sacrebleu("tokenized_bleu"), NO_SACREBLEU),
    (lambda: check_without_sacrebleu("chrf"), NO_SACREBLEU),
    (lambda: without_mecab("ja-mecab"), no_tokenizer("ja-mecab", "sacrebleu[ja]")),
    (lambda: without_mecab("ko-mecab"), no_tokenizer("ko-mecab", "sacrebleu[ko]")),
    (lambda: without_mecab("spm"), no_tokenizer("spm", "sentencepiece")),
    (
        lambda: text_metric("blue"),
        f"text_metric got an unknown metric. Expected one of {NAMES}, or a "
        "TextMetric, received 'blue'. Use 'bleu', the nearest, or wrap a "
        "custom function: TextMetric(name, function, higher_is_better).",
    ),
    (
        lambda: text_metric(3),
        f"text_metric got an unknown metric. Expected one of {NAMES}, or a "
        "TextMetric, received 3. Wrap a custom function: TextMetric(name, "
        "function, higher_is_better).",
    ),
    (lambda: ks.metrics.read_alignments(["0-0", "1-1 2+2"]), no_link("2+2", 2)),
    (
        lambda: ks.metrics.read_alignments(["0-1"], one_based=True),
        no_link("0-1", 1, first=1),
    ),
    (
        lambda: ks.metrics.alignment_links(np.ones((2, 3, 4))),
        matrix("alignment_links", (2, 3, 4)),
    ),
    (
        lambda: ks.metrics.alignment_confidence(np.ones((0, 4))),
        matrix("alignment_confidence", (0, 4)),
    ),
    (
        lambda: ks.metrics.alignment_error_rate([set()], []),
        "alignment_error_rate got different numbers of sentences. Expected "
        "links and gold links of the same sentences, received 1 and 0. Check "
        "the files: a line may be missing.",
    ),
    (
        lambda: ks.metrics.alignment_error_rate([set(), [(0, 0)]], 2 * [GOLD]),
        unusable_links([(0, 0)], GOLD, 1),
    ),
    (
        lambda: ks.metrics.alignment_error_rate([set()], [({(0, 0)}, set())]),
        unusable_links(set(), ({(0, 0)}, set()), 0),
    ),
    (
        lambda: ks.metrics.alignment_confidence([[0.5, 1.5]]),
        no_alignment("alignment_confidence", "0.5", "1.5"),
    ),
    (
        lambda: ks.metrics.alignment_confidence([[0.5, -0.5]]),
        no_alignment("alignment_confidence", "-0.5", "0.5"),
    ),
    (
        lambda: ks.metrics.alignment_links([[0.5, float("nan")]]),
        no_alignment("alignment_links", "nan", "nan"),
    ),
    (
        lambda: ks.metrics.merge_subwords(np.ones((2, 3)), [0, 0, 2], [0, 1]),
        words("source", 3, [0, 0, 2]),
    ),
    (
        lambda: ks.metrics.merge_subwords(np.ones((2, 3)), [0, 0, 1], [0]),
        words("target", 2, [0]),
    ),
    (lambda: validation(Scripted(), every=0), size("every", 0)),
    (lambda: validation(Scripted(), patience=0), size("patience", 0)),
    (lambda: validation(Scripted(), average=-1, folder="x"), size("average", -1)),
    (lambda: validation(Scripted(), samples=1.5), size("samples", 1.5)),
    (
        lambda: validation(Scripted(), unit="batch"),
        "Validation got an unknown unit. Expected one of epoch, step, received "
        "'batch'. Check the spelling.",
    ),
    (
        lambda: validation(Scripted(), average=3),
        "Validation got an average without a folder. Expected a folder that "
        "keeps the weights of the last validations, received average=3 and "
        "folder=None. Pass folder='...', or average=0.",
    ),
    (
        lambda: validation(Scripted(), metrics=["wer", "wer"]),
        "Validation got unusable metrics. Expected one metric or more with "
        "different names, received ['wer', 'wer']. Pass e.g. metrics=['bleu', "
        "'chrf'].",
    ),
    (
        lambda: ks.callbacks.Validation("a translator", PAIRS),
        "Validation got an unusable translator. Expected an object with a model and a "
        "method translate(texts), received 'a translator'. Pass a Translator.",
    ),
    (
        lambda: ks.callbacks.Validation(Scripted(), (["a"], [])),
        "Validation got sides of different length. Expected one or more "
        "sources, and for each a reference or a list of references, received 1 "
        "sources and 0 references. Pass (sources, references).",
    ),
    (
        from_step_0,
        "Validation got the folder of another training. Expected an empty "
        "folder, because the training starts at step 0, received a folder with "
        f"{str(HERE)!r}. Use a new folder; to continue that training, load the "
        "model and the optimizer before fit.",
    ),
    (lambda: read(HERE), unreadable(str(HERE))),
    (lambda: read_text(NO_BEST), unreadable("run/validation.json")),
    (lambda: read_text(NO_BLEU), unreadable("run/validation.json")),
    (
        without_best,
        "Validation got a folder without its best weights. Expected "
        f"{str(Path('none', 'best.weights.h5'))!r}, because validation.json "
        "names a best validation, received no such file. Put the file back, or "
        "delete validation.json: then the best value is forgotten.",
    ),
    (
        with_damaged_best,
        "Validation got damaged best weights. Expected the checksum in "
        "best.weights.h5.sha256, received other content of "
        "'RUN/best.weights.h5'. Put the right file back, or delete "
        "validation.json: then the best value is forgotten.",
    ),
    (
        diverge,
        "The loss has diverged. Expected finite weights and a loss of at most 200, 100 "
        "times the first loss, received a loss of 201 in step 7 of epoch 2; the last "
        "good loss was 2 in step 7. Lower the learning rate, add a warm-up, or clip "
        "the gradients.",
    ),
    (
        lambda: ks.callbacks.DivergenceGuard("ignore"),
        "DivergenceGuard got an unknown action. Expected one of skip, stop, received "
        "'ignore'. Check the spelling.",
    ),
    (
        lambda: ks.callbacks.DivergenceGuard(factor=1),
        "DivergenceGuard got an unusable factor. Expected a number above 1, "
        "received factor=1. Pass factor=100.0, for example.",
    ),
    (
        lambda: ks.callbacks.DivergenceGuard(every=0),
        "DivergenceGuard got an unusable every. Expected a positive integer, received "
        "every=0. Pass a Python int, 1 or more.",
    ),
    (
        lambda: read_text('{"metric": "chrf", "entries": []}'),
        "Validation got the folder of another training. Expected a training "
        "whose first metric is 'bleu', received 'run/validation.json' with "
        "'chrf'. Use a new folder, or the same first metric.",
    ),
]
