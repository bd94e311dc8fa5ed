"""Values that were typed, settings, and the way between them."""

import json

import pytest

from keras_seqattn.cli import training
from keras_seqattn.cli.model_factory import (
    make_model,
    make_optimizer,
    make_schedule,
    optimizer_classes,
)
from keras_seqattn.cli.run_json import settings_from_dict, versions
from keras_seqattn.cli.text_processors import ProcessorChoice
from keras_seqattn.cli.train import settings_and_data
from keras_seqattn.cli.typed_arguments import call_with, parse_arguments, parse_value
from keras_seqattn.data.tasks import task
from seqattn_command import main
from seqattn_command.options import written_settings
from seqattn_command.parser import parse
from seqattn_command.settings import Settings, Typed


@pytest.mark.parametrize(
    "text, usual, value",
    [
        ("256", None, 256),
        ("-3", 4, -3),
        ("0.3", None, 0.3),
        ("1e-4", 0.1, 1e-4),
        ("gru", None, "gru"),
        ("None", "gru", None),
        ("none", None, None),
        ("True", None, True),
        ("false", True, False),
        ("0123", "abc", "0123"),
        ("1,12", (1, 2), [1, 12]),
        ("(1, 12)", (1, 2), [1, 12]),
        ("de", ("de", "en"), ["de"]),
        ("de,en", None, ["de", "en"]),
        ("a,b", "abc", "a,b"),
    ],
)
def test_typed(text, usual, value):
    found = parse_value(text, usual)
    assert found == value and type(found) is type(value)


def test_arguments_know_types_by_their_defaults():
    def build(units, symbols="abc", cell="gru"):
        pass

    values = {"units": "8", "symbols": "123", "cell": "lstm"}
    found = parse_arguments("build", build, values)
    assert found == {"units": 8, "symbols": "123", "cell": "lstm"}
    assert parse_arguments("build", build, found) == found  # as they come from JSON
    assert parse_arguments("build", build, {"units": "8"}, {"units": "x"}) == {
        "units": "8"
    }


def test_no_setting(capsys):
    assert main(["train", "--set", "units", "--out", "x"]) == 2
    assert capsys.readouterr().err.endswith(
        "error: argument --set: expected NAME=VALUE without spaces, received 'units'\n"
    )


def test_options_become_settings():
    options = "--set a=1 b=2 --set c=3 --columns 0 1 --joint --minutes 2 --metric wer"
    values = written_settings(parse(["train", *options.split()]))
    assert values == {
        "set": {"a": "1", "b": "2", "c": "3"},
        "columns": ["0", "1"],
        "joint": True,
        "minutes": 2.0,
        "metric": ["wer"],
    }


def test_settings_travel_through_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = Settings(source="a.en", target="a.de", set={"units": "3"})
    settings = settings.with_absolute_paths()
    assert settings.source == str(tmp_path / "a.en")
    assert settings_from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


def test_wrong_type_is_an_error_of_the_user():
    with pytest.raises(ValueError) as caught:
        call_with("range", lambda stop: range(stop), {"stop": "many"})
    assert str(caught.value) == (
        "range cannot use its arguments. Expected numbers, names or lists, as its "
        "documentation says, received {'stop': 'many'} with the error \"'str' object "
        'cannot be interpreted as an integer". Check their spelling and types.'
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
        ({"schedule": "nvidia_gnmt"}, [0.00001, 0.001 * 0.01 ** (16 / 66), 0.0000625]),
    ],
)
def test_schedule(options, rates):
    made = make_schedule(Settings(**options), 100)
    found = [float(made(step)) if callable(made) else made for step in (0, 50, 100)]
    assert found == pytest.approx(rates, abs=1e-9)


def test_optimizer_of_a_paper():
    settings = Settings(model="sutskever2014", optimizer="paper", ema=0.9)
    made = make_optimizer(settings, steps_per_epoch=7)
    assert made.global_clipnorm == 5.0 and made.use_ema and made.ema_momentum == 0.9


def test_model_of_ones_own():
    model = Typed("tests.cli.own_model.tiny")
    settings = Settings(model=model, set={"units": "6"})
    model = make_model(settings, 9, 11)
    assert model.source_embedding.input_dim == 9
    assert model.target_embedding.input_dim == 11
    assert model.encoder.units == 6


def test_words_for_texts():
    options = {"vocabulary_size": 80, "kind": "bpe"}
    assert ProcessorChoice.parse("sentencepiece:80:bpe").options == options
    assert ProcessorChoice.parse("characters").options == {}
    assert ProcessorChoice.parse("words:9").options == {"vocabulary_size": 9}
    with pytest.raises(ValueError, match="^train got an unusable kind of text"):
        ProcessorChoice.parse("words:9:bpe")


@pytest.mark.parametrize(
    ("was", "options", "batches"),
    [
        ({}, [], (2000, None, 1)),
        ({}, ["--batch-size", "64"], (None, 64, 1)),
        ({"batch_tokens": 900}, ["--batch-size", "64"], (900, 64, 1)),
        ({}, ["--jit"], (2000, None, 8)),
        ({}, ["--jit", "--pad-to-multiple", "4"], (2000, None, 4)),
        ({"pad_to_multiple": 4}, ["--jit"], (2000, None, 4)),
    ],
)
def test_repeated_settings_suit_those_that_change(tmp_path, was, options, batches):
    made = task("reverse", train=3, validation=1, test=1)
    first = training.complete(Settings(task="reverse", **was), made)
    path = tmp_path / "run.json"
    about = {"pairs": 0, "sha256": ""}
    content = {
        "settings": first.to_dict(),
        "versions": versions(),
        "data": {"train": about, "validation": about},
        "command": "",
    }
    path.write_text(json.dumps(content))
    command = ["train", "--repeat", str(path), "--out", "new", *options]
    again = training.complete(settings_and_data(parse(command), None)[0], made)
    found = again.batch_tokens, again.batch_size, again.pad_to_multiple
    assert found == batches


@pytest.mark.parametrize("word", ["no", "off", "0", "flase"])
def test_no_other_word_is_a_switch(word):
    def build(units, feeding=True):
        pass

    assert parse_arguments("build", build, {"feeding": "False"}) == {"feeding": False}
    with pytest.raises(ValueError) as error:
        parse_arguments("build", build, {"feeding": word})
    assert str(error.value) == (
        "build got an unusable value of a switch. Expected feeding=true or "
        f"feeding=false, received feeding={word}. Write one of the two."
    )


@pytest.mark.parametrize("name", sorted(optimizer_classes()))
def test_every_optimizer_can_be_made(name):
    for decay in (0.0, 0.01):
        made = make_optimizer(Settings(optimizer=name, weight_decay=decay), 9)
        assert made.weight_decay == decay or not decay
