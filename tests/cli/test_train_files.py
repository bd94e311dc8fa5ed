"""Training from files: what is read, what is left out, what is an error."""

from types import SimpleNamespace

import pytest

import keras_seqattn as ks
from keras_seqattn.cli import training
from keras_seqattn.cli.text_processors import warn_of_references
from keras_seqattn.cli.training_data import (
    make_dataset,
    read_task,
    warn_of_lengths,
)
from seqattn_command import main
from seqattn_command.settings import Settings
from tests.cli.tiny import TINY

PAIRS = [(f"{i} {i + 1}", f"{i + 1} {i}") for i in range(40)]
SOURCES, TARGETS = ([pair[side] for pair in PAIRS] for side in (0, 1))


def options(paths, out, *more):
    sides = ["--source", str(paths[0]), "--target", str(paths[1])]
    return ["train", *sides, *TINY, "--validation-size", "4", *more, "--out", str(out)]


def test_reads_what_is_good(files, tmp_path, capsys, monkeypatch):
    broken = [*SOURCES, "", "9 " * 5_000 + "9"]
    sources = "\n".join(broken).encode() + b"\n\xff\n"
    paths = files(source=sources, target=[*TARGETS, "1", "2", "3"])
    learned_from = []

    def train(settings, task, run):
        translator = ks.Translator.__new__(ks.Translator)
        text = ks.text.Characters.learn(task.train.source)
        translator.pipeline = SimpleNamespace(
            source_text=text, target_text=text, max_length=9
        )
        dataset, steps = make_dataset(settings, task.train, translator)
        learned_from.extend(inputs["source"].shape[0] for inputs, _ in dataset)
        assert steps == len(learned_from)

    monkeypatch.setattr(training, "train", train)
    more = ["--encoding-errors", "skip", "--text", "characters"]
    assert main(options(paths, tmp_path / "run", *more)) == 0
    printed = capsys.readouterr().err
    assert "1 pairs are left out: not UTF-8\n" in printed
    assert "1 pairs are left out: empty\n" in printed
    assert "1 pairs are left out: longer than 500 tokens\n" in printed
    assert sum(learned_from) == 36  # of 43, without these three and 4 held out


def test_missing_file(failing, files, tmp_path):
    paths = [tmp_path / "nowhere", *files(target=TARGETS)]
    assert failing(*options(paths, tmp_path / "run")) == (
        "read_pairs got a path without a file. Expected a path of a file, "
        f"received '{tmp_path}/nowhere'. Check the folder and the spelling."
    )
    assert not (tmp_path / "run").exists()


def test_sides_of_different_length(failing, files, tmp_path):
    paths = files(source=SOURCES, target=TARGETS[1:])
    assert failing(*options(paths, tmp_path / "run")) == (
        "read_pairs got two files of different length. Expected the same "
        f"number of lines in both, received 40 in '{paths[0]}' and 39 in "
        f"'{paths[1]}'. Check the files: a line may be missing or broken in two."
    )


def test_not_utf_8(failing, files, tmp_path):
    paths = files(source=b"a\nb\xff\n", target=["a", "b"])
    assert failing(*options(paths, tmp_path / "run")) == (
        "read_pairs got a text that is not UTF-8. Expected UTF-8, received other bytes "
        f"in line 2 of '{paths[0]}'. Convert the file, or drop such pairs with "
        'encoding_errors="skip".'
    )


def test_too_few_to_hold_out(failing, files, tmp_path):
    paths = files(source=SOURCES[:4], target=TARGETS[:4])
    assert failing(*options(paths, tmp_path / "run")) == (
        "train cannot split off a validation set. Expected --validation-size from 1 to "
        "less than 4, the number of pairs, received 4. Choose another size, or name "
        "files with --validation-source and --validation-target."
    )


def test_vocabulary_that_does_not_fit(failing, files, tmp_path):
    paths = files(source=SOURCES, target=TARGETS)
    more = ["--text", "characters", "--set", "source_vocabulary=5"]
    assert failing(*options(paths, tmp_path / "run", *more)) == (
        "Translator got a source_text that does not fit the model. Expected a "
        "vocabulary of 5 tokens, as many as the model embeds, received Characters with "
        "15. Pass the processor with which the model was trained, or build the model "
        "with source_vocabulary=15."
    )
    assert not (tmp_path / "run").exists()  # the next try may have this folder


@pytest.mark.parametrize(
    ("how", "targets", "changed"),
    [
        (["--lowercase"], "A{} b", 4),
        (["--lowercase"], "a{} b", 0),
        (["--lowercase"], " a{}  b ", 0),  # metrics hardly see white space
        (["--normalization", "nfkc"], "{} ½", 4),
        (["--normalization", "nfkc", "--lowercase"], "{} A", 4),
        ([], "A{} ½", 0),
    ],
)
def test_references_that_no_translation_can_equal(
    files, tmp_path, capsys, monkeypatch, how, targets, changed
):
    def stop(*arguments):
        raise ValueError("enough")

    monkeypatch.setattr(training, "make_translator", stop)
    paths = files(source=SOURCES, target=[targets.format(i) for i in range(40)])
    more = ["--text", "characters", *how]
    assert main(options(paths, tmp_path / "run", *more)) == 2
    said = [x for x in capsys.readouterr().err.splitlines() if "warning" in x]
    assert said == changed // 4 * [
        "seqattn: warning: train changes the targets that it reads. Expected "
        f"references that a translation can equal, received {changed} of 4 that "
        f"{said_of(how)} changes, which metrics count as mistakes. Change the targets "
        "in the files of training and validation in the same way, or leave "
        f"{said_of(how)} out."
    ]


def said_of(how):
    """The options as the warning names them."""
    lower = how[-1:] if "--lowercase" in how else []
    form = [f"{how[0]} {how[1]}"] if "--normalization" in how else []
    return " and ".join(lower + form)


def test_one_reference_that_can_be_equalled_is_enough():
    text = ks.text.Characters.learn(["ab"], lowercase=True)
    references = [["A", "a"], ["B"], ["b"], []]
    with pytest.warns(UserWarning, match="received 2 of 4 that --lowercase changes"):
        warn_of_references(Settings(lowercase=True), text, references)


def test_validation_searches_as_the_settings_say(monkeypatch):
    monkeypatch.setattr(training, "Validation", lambda shown, *rest, **how: shown)
    monkeypatch.setattr(
        training, "AttentionCallback", lambda searching, *rest, **how: searching
    )
    translator = SimpleNamespace(with_search=lambda search: search)
    held = ks.data.Pairs(["a"], ["b"])
    task = ks.data.tasks.Task("files", "", held, held, held)
    run = SimpleNamespace(checkpoints=None, logs=None)
    for width, expected in (
        (1, ks.Greedy()),
        (3, ks.BeamSearch(3, 0.5)),
    ):
        settings = Settings(validation_beam=width, length_penalty=0.5)
        how = settings, task, translator, run
        assert training.make_validation(*how).translator == expected
        assert training.attention_callbacks(*how) == [expected]


def test_a_word_with_several_answers_is_held_out_with_all(files):
    words = [f"word{i}" for i in range(30) for _ in "ab"]
    answers = [f"{i} {letter}" for i in range(30) for letter in "ab"]
    paths = files(source=words, target=answers)
    sides = dict(zip(("source", "target"), map(str, paths), strict=True))
    task, lines = read_task(Settings(**sides, validation_size=10))
    held = task.validation.source
    assert not set(held) & set(task.train.source)
    for word, known in zip(held, task.references["validation"], strict=True):
        number = word.removeprefix("word")
        assert known == [f"{number} a", f"{number} b"]
    left = 60 - 10 - len(task.train)
    assert left > 0
    assert lines == [f"{left} pairs are left out: other targets of validation sources"]


def test_a_validation_file_says_what_it_lacks(files):
    paths = files(source=["a b"], target=["c"], s=b"a\n\xff\na\n", t=["x", "y", "z"])
    names = ("source", "target", "validation_source", "validation_target")
    sides = dict(zip(names, map(str, paths), strict=True))
    task, lines = read_task(Settings(**sides, encoding_errors="skip"))
    assert task.references["validation"] == [["x", "z"], ["x", "z"]]
    assert lines == ["1 pairs are left out: not UTF-8, of the validation set"]


@pytest.mark.parametrize(
    ("max_length", "longer"),
    [(ks.decoding.RelativeLength(2.0, plus=10), 3), (23, 2), (24, 1)],
)
def test_targets_that_no_translation_is_as_long_as(recwarn, max_length, longer):
    """Lengths with the end token: 6 and 24, 6 and 23, 6 and 90."""
    target = [[5] * 23, [5] * 22, [5] * 89] + [[5]] * 61
    ids = ks.data.EncodedPairs.of([[7] * 5] * 64, target)
    warn_of_lengths(ids, max_length)
    [said] = [str(w.message) for w in recwarn]
    assert said == (
        "train got targets that are longer than any translation can be. Expected at "
        f"most 1 % longer than max_length={max_length}, received {longer} of 64, the "
        "longest of 90 tokens. Add e.g. --max-length 90."
    )
    warn_of_lengths(ids, 90)
    assert len(recwarn) == 1
