"""Values that were typed, settings, and the way between them."""

import dataclasses
import functools
import json
import re
from pathlib import Path

import pytest

import keras_seqattn as ks
from keras_seqattn.cli import model_factory, training
from keras_seqattn.cli.chosen_settings import OPTIMIZER, choose_settings
from keras_seqattn.cli.run_json import read_run, settings_from_dict, versions
from keras_seqattn.cli.train import settings_and_data
from keras_seqattn.cli.typed_arguments import call_with, parse_arguments, parse_value
from keras_seqattn.data.tasks import task
from keras_seqattn.text.kinds import ProcessorChoice
from keras_seqattn.translator import recommended
from seqattn_command import main
from seqattn_command.options import written_settings
from seqattn_command.parser import parse
from seqattn_command.settings import Settings
from tests.raised import check_error

VALUES = [  # typed, the default of the argument, the value
    *[("256", None, 256), ("-3", 4, -3), ("0.3", None, 0.3), ("1e-4", 0.1, 1e-4)],
    *[("gru", None, "gru"), ("None", "gru", None), ("none", None, None)],
    *[("True", None, True), ("false", True, False), ("0123", "abc", "0123")],
    *[("1,12", (1, 2), [1, 12]), ("(1, 12)", (1, 2), [1, 12]), ("a,b", "abc", "a,b")],
    *[("de", ("de", "en"), ["de"]), ("de,en", None, ["de", "en"])],
]


@pytest.mark.parametrize("text, usual, value", VALUES)
def test_values_have_types(text, usual, value):
    found = parse_value(text, usual)
    assert found == value and type(found) is type(value)


def test_arguments_know_types_by_their_defaults():
    def build(units, symbols="abc", cell="gru"):
        pass

    values = {"units": "8", "symbols": "123", "cell": "lstm"}
    found = parse_arguments("build", build, values)
    assert found == {"units": 8, "symbols": "123", "cell": "lstm"}
    assert parse_arguments("build", build, found) == found  # as they come from JSON
    found = parse_arguments("build", build, {"units": "8"}, {"units": "x"})
    assert found == {"units": "8"}


@pytest.mark.parametrize("words", ["train --out x --set a", "export a b --note a"])
def test_no_value(words, capsys):
    assert main(words.split()) == 2
    says = f"error: argument {words.split()[-2]}: expected NAME=VALUE without spaces, "
    assert capsys.readouterr().err.endswith(f"{says}received 'a'\n")


def test_options_become_settings_that_travel_through_json(tmp_path, monkeypatch):
    options = "--set a=1 b=2 --set c=3 --columns 0 1 --joint --minutes 2 --metric wer"
    assert written_settings(parse(["train", *options.split()])) == {
        **{"set": {"a": "1", "b": "2", "c": "3"}, "columns": ["0", "1"]},
        **{"joint": True, "minutes": 2.0, "metric": ["wer"]},
    }
    monkeypatch.chdir(tmp_path)
    typed = Settings(source="a.en", target="a.de", set={"units": "3"})
    settings = typed.with_absolute_paths()
    assert settings.source == str(tmp_path / "a.en")
    assert settings_from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


OWN = {"validation_pairs": "b"}


@pytest.mark.parametrize(
    ("old", "rule", "size"),
    [
        ({"encoding_errors": "fatal", "source": "a"}, "skip", 1000),
        ({"encoding_errors": "skip", "pairs": "a"}, "skip-all", 1000),
        ({"encoding_errors": "fatal", "pairs": "a", **OWN}, "skip", None),
        ({"encoding_errors": "fatal", "task": "dates"}, "skip", None),
        ({"row_errors": "fatal", "task": "dates"}, "fatal", 1000),
    ],
)
def test_settings_of_older_runs_have_their_new_names(tmp_path, old, rule, size):
    about = dict.fromkeys(("train", "validation"), {"pairs": 0, "sha256": ""})
    content = {"settings": old | {"validation_size": 1000}, "versions": {}}
    content |= {"command": "", "data": about}
    (tmp_path / "run.json").write_text(json.dumps(content))
    settings = settings_from_dict(read_run(tmp_path / "run.json")["settings"])
    assert (settings.row_errors, settings.validation_size) == (rule, size)


def test_a_value_of_the_wrong_type():
    check_error(
        lambda: call_with("range", lambda stop: range(stop), {"stop": "many"}),
        "range cannot use its arguments",
        "received {'stop': 'many'} with the error \"'str' object cannot be",
    )


@pytest.mark.parametrize(
    "options, rates",
    [
        ({}, [0.001, 0.001, 0.001]),
        ({"warmup": 50}, [0.0, 0.001, 0.001]),
        ({"schedule": "cosine"}, [0.001, 0.0005, 0.0]),
        ({"schedule": "cosine", "warmup": 50}, [0.0, 0.001, 0.0]),
        ({"schedule": "luong5"}, [0.001, 0.001, 0.001 / 32]),
        ({"schedule": "luong5", "warmup": 50}, [0.00001, 0.001, 0.001 / 32]),
        (
            {"schedule": "inverse_root", "warmup": 4},
            [0.00025, 0.001 * (4 / 51) ** 0.5, 0.001 * (4 / 101) ** 0.5],
        ),
        ({"schedule": "nvidia_gnmt"}, [0.00001, 0.001 * 0.01 ** (16 / 66), 0.0000625]),
    ],
)
def test_schedule(options, rates):
    made = model_factory.make_schedule(Settings(**{**OPTIMIZER, **options}), 100)
    found = [float(made(step)) if callable(made) else made for step in (0, 50, 100)]
    assert found == pytest.approx(rates, abs=1e-9)


def test_options_of_an_optimizer():
    """Also those that a class hands on to its base, as the default optimizer does."""
    typed = {**OPTIMIZER, "epochs": 1, "optimizer_options": {"beta_2": "0.98"}}
    how = Settings(**typed)
    made = model_factory.make_optimizer(how, steps_per_epoch=7)
    assert isinstance(made, ks.optimizers.FusedAdam) and made.beta_2 == 0.98


def test_optimizer_of_a_paper_and_kinds_of_text():
    how = Settings(model="sutskever2014", optimizer="paper", ema=0.9)
    made = model_factory.make_optimizer(how, steps_per_epoch=7)
    assert made.global_clipnorm == 5.0 and made.use_ema and made.ema_momentum == 0.9
    parse = functools.partial(ProcessorChoice.parse, "train")
    options = {"vocabulary_size": 80, "kind": "bpe"}
    assert parse("sentencepiece:80:bpe").options == options
    assert parse("characters").options == {}
    assert parse("words:9").options == {"vocabulary_size": 9}
    check_error(lambda: parse("words:9:bpe"), "train got an unusable kind of text")


@pytest.mark.parametrize(
    ("was", "options", "batches"),
    [
        *[({}, "", (None, 16, 1)), ({}, "--batch-size 64", (None, 64, 1))],
        ({}, "--batch-tokens 900", (900, None, 1)),
        ({"batch_tokens": 900}, "--batch-size 64", (None, 64, 1)),
        ({}, "--jit", (None, 16, 8)),
        ({}, "--jit --pad-to-multiple 4", (None, 16, 4)),
        ({"pad_to_multiple": 4}, "--jit", (None, 16, 4)),
    ],
)
def test_repeated_settings_suit_those_that_change(tmp_path, was, options, batches):
    made = task("reverse", train=3, validation=1, test=1)
    first = training.complete(Settings(task="reverse", **was), made)
    path, about = tmp_path / "run.json", {"pairs": 0, "sha256": ""}
    content = {"settings": first.to_dict(), "versions": versions(), "command": ""}
    content["data"] = {"train": about, "validation": about}
    path.write_text(json.dumps(content))
    command = ["train", "--repeat", str(path), "--out", "new", *options.split()]
    again = training.complete(settings_and_data(parse(command), None)[0], made)
    assert (again.batch_tokens, again.batch_size, again.pad_to_multiple) == batches


DATA = {"epochs", "batch_size", "source_text", "target_text"}  # always chosen by data


@pytest.mark.parametrize(
    ("written", "fixed", "model"),
    [
        *[({}, set(), "recommended"), ({"set": {"units": "7"}}, set(), "recommended")],
        ({"model": "luong2015"}, set(), "luong2015"),
        ({"preset": "small"}, set(), "bahdanau2015"),
        ({"warmup": 3}, {*OPTIMIZER} - {"warmup"}, "recommended"),
        ({"optimizer": "sgd"}, {*OPTIMIZER}, "recommended"),
    ],
)
def test_settings_that_are_left_open(written, fixed, model):
    made = task("reverse", train=30, validation=1, test=1)
    chosen = recommended(made.train, ("characters", "characters"))
    found, lines = choose_settings(Settings(task="reverse", **written), made)
    assert None not in [getattr(found, name) for name in {*OPTIMIZER, *DATA}]
    assert {n for n in OPTIMIZER if getattr(found, n) == OPTIMIZER[n]} == fixed
    assert found.model == model and found.epochs == chosen.epochs
    sizes = {**chosen.model, **written.get("set", {})}
    assert found.set == (sizes if model == "recommended" else {})
    explained = {line.split()[0] for line in lines[:-1]}
    assert DATA <= explained and lines[-1].startswith("30 pairs are little data")
    assert ("model" in explained) == (model == "recommended")
    assert ("learning_rate" in explained) == (not fixed)


@pytest.mark.parametrize("word", ["no", "off", "0", "flase"])
def test_no_other_word_is_a_switch(word):
    def build(units, feeding=True):
        pass

    assert parse_arguments("build", build, {"feeding": "False"}) == {"feeding": False}
    check_error(
        lambda: parse_arguments("build", build, {"feeding": word}),
        "build got an unusable value of a switch. Expected feeding=true or "
        f"feeding=false, received feeding={word}. Write one of the two.",
    )


@pytest.mark.parametrize("name", sorted(model_factory.optimizer_classes()))
def test_every_optimizer_can_be_made(name):
    for decay in (0.0, 0.01):
        made = model_factory.make_optimizer(
            Settings(optimizer=name, weight_decay=decay, epochs=1, **OPTIMIZER), 9
        )
        assert made.weight_decay == decay or not decay


def test_every_setting_is_read_and_every_number_has_a_bound():
    """The code has `.name`, `"name"`, or the name after "validation_"."""
    files = (Path(__file__).parents[2] / "keras_seqattn/cli").glob("*.py")
    texts = [x.read_text("utf-8") for x in files if x.stem != "settings_checks"]
    for name in (field.name for field in dataclasses.fields(Settings)):
        side = name.removeprefix("validation_")
        use = rf'\.{name}\b|"({name}|{side})"'
        assert any(re.search(use, text) for text in texts), f"nothing reads {name}"
    numbers = [x for x in dataclasses.fields(Settings) if x.type in (int, float)]
    free = [x.name for x in numbers if {*x.metadata["bounds"].values()} == {None}]
    assert free == ["length_penalty"]  # a negative one prefers short translations
