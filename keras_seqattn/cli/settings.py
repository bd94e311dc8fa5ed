"""What a training run is made of: every choice, its default, its help.

It is what `run.json` holds, and what the options of `seqattn train` are made from. No
import here is slow: help is shown before TensorFlow is loaded.
"""

import dataclasses
import functools
import os

from keras_seqattn.checks import check_choice
from keras_seqattn.cli.values import Typed
from keras_seqattn.errors import four_part_error

GROUPS = {
    "data": "data (one of --task, --corpus, --pairs, --source with --target)",
    "held": "what is held out, what is left out",
    "text": "text (by default what suits the data)",
    "model": "model",
    "optimizer": "optimizer",
    "loop": "training loop",
    "search": "translating",
}


def _choice(group, help, default=None, **option):
    """A field; `option` is what argparse is told about it."""
    about = {"group": group, "help": help, "option": option}
    if default == {}:
        return dataclasses.field(default_factory=dict, metadata=about)
    return dataclasses.field(default=default, metadata=about)


_data, _held, _text, _model, _optimizer, _loop, _search = (
    functools.partial(_choice, group) for group in GROUPS
)
_FILE = {"metavar": "FILE"}
_VALUES = {"nargs": "+", "metavar": "NAME=VALUE"}
_KIND = {"metavar": "KIND[:SIZE[:TYPE]]"}
_PATHS = ("data", "pairs", "source", "target")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Every choice of a training run; None: what suits the others is chosen."""

    task: str = _data("a built-in task: see `seqattn tasks`", metavar="NAME")
    task_options: dict = _data("its options, e.g. train=5000", {}, **_VALUES)
    corpus: str = _data("in a folder", choices=["multi30k", "tatoeba", "g2p"])
    data: str = _data(
        "folder of the corpus, by default in the one that the environment variable "
        "KERAS_SEQATTN_DATA names; of tatoeba the file, which must be named",
        metavar="PATH",
    )
    languages: list = _data(
        "of multi30k, source first (default: en de)", nargs=2, metavar="CODE"
    )
    tokenized: bool = _data("of multi30k: lowercased and tokenised", False)
    pairs: str = _data("a table: .tsv, .csv, .jsonl, .tmx, or these and .gz", **_FILE)
    columns: list = _data(
        "of the table: numbers from 0, names or languages", nargs=2, metavar="COLUMN"
    )
    source: str = _data("sources, a text in each line, plain or gzip", **_FILE)
    target: str = _data("their translations, line by line", **_FILE)
    encoding_errors: str = _data(
        "lines that are not UTF-8: an error, or left out",
        "fatal",
        choices=["fatal", "skip"],
    )

    validation_pairs: str = _held("a table to choose the best by", **_FILE)
    validation_source: str = _held("or its sources", **_FILE)
    validation_target: str = _held("and their translations", **_FILE)
    validation_size: int = _held(
        "pairs split off if files have no validation set; all runs hold out the same",
        1000,
        metavar="N",
    )
    ratio: float = _held("leave out pairs with one side R times longer", metavar="R")
    max_tokens: int = _held("leave out longer texts", 500, metavar="N")

    source_text: str = _text(
        "sentencepiece:8000[:bpe], wordpiece:8000, characters or words[:8000]", **_KIND
    )
    target_text: str = _text("the same for the targets", **_KIND)
    joint: bool = _text("one vocabulary for both sides", False)
    lowercase: bool = _text("read capital letters as small ones", False)
    normalization: str = _text("of Unicode", choices=["nfc", "nfkc", "nfkc_casefold"])
    sample: float = _text(
        "draw the subwords anew in every epoch: with bpe the share of merges that are "
        "left out, e.g. 0.1; with unigram the exponent alpha, e.g. 0.5",
        0.0,
        metavar="X",
    )

    model: str = _model(
        "a function that makes one: of zoo, or package.function",
        "bahdanau2015",
        metavar="NAME",
        type=Typed,
    )
    preset: str = _model("its sizes by name, e.g. small", metavar="NAME")
    set: dict = _model("its arguments, e.g. units=256 maxout=128", {}, **_VALUES)

    optimizer: str = _optimizer(
        "of Keras; or `paper`, that of the zoo for the model", "adam", metavar="NAME"
    )
    optimizer_options: dict = _optimizer(
        "its arguments, e.g. beta_2=0.98", {}, **_VALUES
    )
    learning_rate: float = _optimizer("the highest one", 0.001, metavar="X")
    schedule: str = _optimizer(
        "how it falls until the last epoch",
        "constant",
        choices=["constant", "cosine", "luong5", "luong10", "luong234", "nvidia_gnmt"],
    )
    warmup: int = _optimizer(
        "steps in which it rises first; nvidia_gnmt has its own", 0, metavar="STEPS"
    )
    clip_norm: float = _optimizer("of all gradients; 0: any", 1.0, metavar="X")
    weight_decay: float = _optimizer("of all weights", 0.0, metavar="X")
    ema: float = _optimizer("average the weights, e.g. 0.999", 0.0, metavar="X")
    label_smoothing: float = _optimizer("of the loss, e.g. 0.1", 0.0, metavar="X")

    epochs: int = _loop("passes over the pairs", 10, metavar="N")
    minutes: float = _loop(
        "stop after this time, also within an epoch, which --resume then does again",
        metavar="X",
    )
    batch_tokens: int = _loop(
        "room of a batch for tokens, padding counts (default: 2000)", metavar="N"
    )
    batch_size: int = _loop("pairs of a batch", metavar="N")
    validate_every: int = _loop("validate after every N epochs", 1, metavar="N")
    metric: list = _loop(
        "bleu, tokenized_bleu, chrf, exact_match, wer, per; the first one decides "
        "(default: what suits the data)",
        nargs="+",
        metavar="NAME",
    )
    patience: int = _loop("stop after N validations without a better", metavar="N")
    on_divergence: str = _loop(
        "if the loss is NaN, infinite or more than 100 times the first one: stop with "
        "an error, skip the steps that did it, or ignore it",
        "stop",
        choices=["stop", "skip", "ignore"],
    )
    attention: int = _loop(
        "held-out texts whose alignments TensorBoard shows at each validation",
        8,
        metavar="N",
    )
    average: int = _loop("try the mean of the last N validated", 0, metavar="N")
    seed: int = _loop("of all that is drawn", 0, metavar="N")
    precision: str = _loop(
        "in which layers compute; bfloat16 saves time where the processor has products "
        "of it, weights and losses stay float32",
        "float32",
        choices=["float32", "bfloat16"],
    )
    jit: bool = _loop("compile with XLA", False)
    pad_to_multiple: int = _loop(
        "lengths of batches: few shapes for XLA (default: 1, with --jit 8)",
        metavar="N",
    )

    beam: int = _search("width of the translator's beam", 5, metavar="K")
    length_penalty: float = _search("of the beam", 1.0, metavar="X")
    validation_beam: int = _search("while it trains; 1: greedy", 1, metavar="K")
    max_length: int = _search(
        "tokens of a translation (default: twice the source and 10)", metavar="N"
    )

    @classmethod
    def of(cls, values):
        """From a dict, e.g. of `run.json`; unknown names are an error."""
        for name in values:
            check_choice("train", "setting", name, names())
        for field in dataclasses.fields(cls):
            _check_value(field, values.get(field.name, field.default))
        return cls(**values)

    def with_(self, **values):
        """The same with other values."""
        return dataclasses.replace(self, **values)

    def with_absolute_paths(self):
        """The same, wherever a later run starts."""
        paths = {name: getattr(self, name) for name in names() if _is_path(name)}
        found = {name: os.path.abspath(p) for name, p in paths.items() if p is not None}
        return self.with_(**found)

    def to_dict(self):
        """What `of` takes; JSON can hold it."""
        return dataclasses.asdict(self)


def names(groups=GROUPS):
    """Of the settings in some groups, in order."""
    fields = dataclasses.fields(Settings)
    return [field.name for field in fields if field.metadata["group"] in groups]


def _check_value(field, value):
    """A file may hold anything; argparse has checked what was typed."""
    choices = field.metadata["option"].get("choices")
    if value is None and field.default is None or value is dataclasses.MISSING:
        return
    if choices and value not in choices:
        raise _unusable(field, value, f"one of {', '.join(choices)}")
    if not _FITS[field.type](value):
        raise _unusable(field, value, _IN_WORDS[field.type])


def _unusable(field, value, expected):
    return four_part_error(
        f"train got an unusable value of the setting {field.name}",
        expected,
        repr(value)[:60],
        "Write it as seqattn train writes it into run.json",
    )


def _is_plain(value):
    return value is None or type(value) in (str, bool, int, float)


def _are_plain(values):
    return isinstance(values, list) and all(map(_is_plain, values))


def _are_named(values):
    return isinstance(values, dict) and all(
        type(name) is str and (_is_plain(value) or _are_plain(value))
        for name, value in values.items()
    )


_FITS = {
    str: lambda value: type(value) is str,
    bool: lambda value: type(value) is bool,
    int: lambda value: type(value) is int,
    float: lambda value: type(value) in (int, float),
    list: _are_plain,
    dict: _are_named,
}
_IN_WORDS = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    list: "a list of strings or numbers",
    dict: "an object with strings, numbers or lists of them",
}


def _is_path(name):
    return name.removeprefix("validation_") in _PATHS
