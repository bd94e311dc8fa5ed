"""The settings of a training run: each has a default, a type and a help text.

`run.json` stores these settings, and the options of `seqattn train` are made from them.
"""

import dataclasses
import functools
import os

GROUPS = {
    "data": "data (one of --task, --corpus, --pairs, --source with --target)",
    "held": "validation set, and pairs that are left out",
    "text": "text (by default chosen by the words of the data)",
    "model": "model",
    "optimizer": "optimizer",
    "loop": "training loop",
    "search": "translating",
}
_PATHS = ("data", "pairs", "source", "target", "source_vectors", "target_vectors")


class Typed(str):
    """A name that the user typed on the command line: it may name any code to run.

    A name that was read from a file is a plain string and may not.
    """


def _setting(group, help, default=None, least=None, above=None, below=None, **option):
    """Return a field; `option` holds keyword arguments of `add_argument`."""
    bounds = {"least": least, "above": above, "below": below}
    metadata = {"group": group, "help": help, "option": option, "bounds": bounds}
    if default == {}:
        return dataclasses.field(default_factory=dict, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


_data, _held, _text, _model, _optimizer, _loop, _search = (
    functools.partial(_setting, group) for group in GROUPS
)
_FILE = {"metavar": "FILE"}
_VALUES = {"nargs": "+", "metavar": "NAME=VALUE"}
_KIND = {"metavar": "KIND[:SIZE[:TYPE]]"}


@dataclasses.dataclass(frozen=True)
class Settings:
    """All settings of a training run; None means that training chooses a value."""

    task: str = _data("built-in task: see `seqattn tasks`", metavar="NAME")
    task_options: dict = _data("options of the task, e.g. train=5000", {}, **_VALUES)
    corpus: str = _data(
        "corpus in a folder: see --data", choices=["multi30k", "tatoeba", "g2p"]
    )
    data: str = _data(
        "folder of the corpus (default: its folder in the one that the environment "
        "variable KERAS_SEQATTN_DATA names); for tatoeba the file, which is required",
        metavar="PATH",
    )
    languages: list = _data(
        "languages of multi30k, source first (default: en de)",
        nargs=2,
        metavar="CODE",
    )
    tokenized: bool = _data("use the lowercased, tokenised form of multi30k", False)
    pairs: str = _data(
        "table of pairs: .tsv, .csv, .jsonl, .tmx, or any text with tabs; also gzip",
        **_FILE,
    )
    columns: list = _data(
        "columns of the table: numbers from 0, names or languages",
        nargs=2,
        metavar="COLUMN",
    )
    source: str = _data("source texts, one per line, plain or gzip", **_FILE)
    target: str = _data("target texts, line by line", **_FILE)
    row_errors: str = _data(
        "rows that are no pairs, e.g. without a tab, with an empty side or not in "
        "UTF-8: skip leaves out at most 5 %%, skip-all any number, with a report; "
        "fatal stops at the first",
        "skip",
        choices=["skip", "skip-all", "fatal"],
    )

    validation_pairs: str = _held("table of pairs for validation", **_FILE)
    validation_source: str = _held("source texts for validation", **_FILE)
    validation_target: str = _held("target texts for validation", **_FILE)
    validation_size: int = _held(
        "pairs of the files for validation, if no other option names them; all runs "
        "use the same ones (default: a tenth, but at least 20 and at most 1000)",
        metavar="N",
        least=1,
    )
    ratio: float = _held(
        "leave out pairs with one side more than R times longer than the other",
        metavar="R",
        least=1,
    )
    max_tokens: int = _held(
        "leave out pairs with more than N tokens on a side",
        500,
        metavar="N",
        least=1,
    )

    source_text: str = _text(
        "tokens of the sources: sentencepiece:8000[:bpe], wordpiece:8000, characters "
        "or words[:8000]",
        **_KIND,
    )
    target_text: str = _text("tokens of the targets, the same choices", **_KIND)
    joint: bool = _text("use one vocabulary for both sides", False)
    lowercase: bool = _text("change all letters to lower case", False)
    normalization: str = _text(
        "Unicode normalization", choices=["nfc", "nfkc", "nfkc_casefold"]
    )
    sample: float = _text(
        "sample new subwords in every epoch: for bpe the share of merges that are left "
        "out, e.g. 0.1; for unigram the exponent alpha, e.g. 0.5",
        0.0,
        metavar="X",
        least=0,
    )

    model: str = _model(
        "function that makes the model: of the zoo, or package.function (default: "
        "chosen by the size of the data; with --preset bahdanau2015)",
        metavar="NAME",
        type=Typed,
    )
    preset: str = _model("name of the model's sizes, e.g. small", metavar="NAME")
    set: dict = _model("arguments of the model, e.g. units=256", {}, **_VALUES)
    init_from: str = _model(
        "start from the weights of a trained translator: the folder of a run or of a "
        "saved translator, or a shipped model; its text and its sizes stay, unless "
        "other options change them",
        metavar="RUN",
    )
    freeze: list = _model(
        "layers that do not learn, e.g. encoder target_embedding decoder/cell",
        nargs="+",
        metavar="NAME",
    )
    source_vectors: str = _model(
        "word vectors that the source embedding starts with: a text file of word2vec, "
        "GloVe or fastText, plain or gzip; needs words as text",
        **_FILE,
    )
    target_vectors: str = _model(
        "word vectors that the target embedding starts with", **_FILE
    )

    optimizer: str = _optimizer(
        "optimizer of Keras; or `paper`, the zoo's optimizer for this model",
        "adam",
        metavar="NAME",
    )
    optimizer_options: dict = _optimizer(
        "arguments of the optimizer, e.g. beta_2=0.98", {}, **_VALUES
    )
    learning_rate: float = _optimizer("maximum learning rate", metavar="X", above=0)
    schedule: str = _optimizer(
        "how the learning rate falls until the last epoch; inverse_root, that of "
        "the Transformer, does not end there (default: see --learning-rate)",
        choices=[
            *("constant", "cosine", "inverse_root"),
            *("luong5", "luong10", "luong234", "nvidia_gnmt"),
        ],
    )
    warmup: int = _optimizer(
        "steps in which the learning rate first rises; nvidia_gnmt has its own "
        "(default: see --learning-rate)",
        metavar="STEPS",
        least=0,
    )
    clip_norm: float = _optimizer(
        "maximum norm of all gradients; 0 means no limit",
        1.0,
        metavar="X",
        least=0,
    )
    weight_decay: float = _optimizer(
        "weight decay of the optimizer", 0.0, metavar="X", least=0
    )
    ema: float = _optimizer(
        "momentum of an average of the weights, e.g. 0.999",
        0.0,
        metavar="X",
        least=0,
        below=1,
    )
    label_smoothing: float = _optimizer(
        "label smoothing in the loss, e.g. 0.1 (default: see --learning-rate)",
        metavar="X",
        least=0,
        below=1,
    )

    epochs: int = _loop(
        "passes over the pairs (default: chosen by the size of the data)",
        metavar="N",
        least=1,
    )
    minutes: float = _loop(
        "stop after this time, also within an epoch; --resume repeats that epoch",
        metavar="X",
        above=0,
    )
    batch_tokens: int = _loop(
        "maximum number of tokens in a batch, padding included (default: no limit)",
        metavar="N",
        least=1,
    )
    batch_size: int = _loop(
        "pairs in a batch (default: chosen by the data, or no limit beside "
        "--batch-tokens)",
        metavar="N",
        least=1,
    )
    validate_every: int = _loop(
        "validate after every N epochs", 1, metavar="N", least=1
    )
    metric: list = _loop(
        "bleu, tokenized_bleu, chrf, exact_match, wer, per; the first one chooses the "
        "best translator (default: what suits the data)",
        nargs="+",
        metavar="NAME",
    )
    patience: int = _loop(
        "stop after N validations without an improvement",
        metavar="N",
        least=1,
    )
    on_divergence: str = _loop(
        "if the loss is NaN, infinite or more than 100 times the first one: stop with "
        "an error, skip the steps that caused it, or ignore it",
        "stop",
        choices=["stop", "skip", "ignore"],
    )
    attention: int = _loop(
        "validation texts whose alignments TensorBoard shows",
        8,
        metavar="N",
        least=0,
    )
    average: int = _loop(
        "at the end, also try the mean of the last N validated weights",
        0,
        metavar="N",
        least=0,
    )
    seed: int = _loop("seed of all random numbers", 0, metavar="N", least=0)
    precision: str = _loop(
        "number format of the computations; bfloat16 is faster on processors that "
        "support it; weights and losses stay float32",
        "float32",
        choices=["float32", "bfloat16"],
    )
    jit: bool = _loop("compile with XLA", False)
    pad_to_multiple: int = _loop(
        "pad lengths of batches to multiples of N, because XLA compiles once for each "
        "shape (default: 1, with --jit 8)",
        metavar="N",
        least=1,
    )

    beam: int = _search("width of the translator's beam", 5, metavar="K", least=1)
    length_penalty: float = _search("length penalty of the beam", 1.0, metavar="X")
    validation_beam: int = _search(
        "width of the beam in validations; 1 is greedy",
        1,
        metavar="K",
        least=1,
    )
    max_length: int = _search(
        "maximum number of tokens of a translation (default: twice the source and 10)",
        metavar="N",
        least=1,
    )

    def with_(self, **values):
        """Return a copy with other values."""
        return dataclasses.replace(self, **values)

    def with_absolute_paths(self):
        """Return a copy that does not depend on the current folder."""
        paths = {name: getattr(self, name) for name in names() if _is_path(name)}
        if self.init_from is not None and os.path.exists(self.init_from):
            paths["init_from"] = self.init_from  # else it may be a shipped model
        absolute = {
            name: os.path.abspath(p) for name, p in paths.items() if p is not None
        }
        return self.with_(**absolute)

    def to_dict(self):
        """Return all settings as a dict that JSON can hold."""
        return dataclasses.asdict(self)


def names(groups=GROUPS):
    """Return the names of the settings in some groups, in order."""
    fields = dataclasses.fields(Settings)
    return [field.name for field in fields if field.metadata["group"] in groups]


def _is_path(name):
    return name.removeprefix("validation_") in _PATHS
