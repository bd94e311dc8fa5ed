"""Training from files: what is read, what is left out, what is an error."""

from types import SimpleNamespace

import keras_seqattn as ks
from keras_seqattn.cli import training
from keras_seqattn.cli.main import main
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
        text = ks.Characters.learn(task.train.source)
        translator.pipeline = SimpleNamespace(source_text=text, target_text=text)
        dataset, steps = training.make_dataset(settings, task.train, translator)
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
        f"read_pairs got a path without a file. Expected a file, received "
        f"'{tmp_path}/nowhere'. Check the folder and the spelling."
    )
    assert not (tmp_path / "run").exists()


def test_sides_of_different_length(failing, files, tmp_path):
    paths = files(source=SOURCES, target=TARGETS[1:])
    assert failing(*options(paths, tmp_path / "run")) == (
        "read_pairs got two files of different length. Expected as many lines in "
        f"both, received 40 in '{paths[0]}' and 39 in '{paths[1]}'. Look for a line "
        "that is missing or broken in two."
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
        "15. Pass the processor with which the model was trained, or make the model "
        "with source_vocabulary=15."
    )
    assert not (tmp_path / "run").exists()  # the next try may have this folder
