"""Values that were typed, settings, and the way between them."""

import json

import pytest

from keras_seqattn.cli import optimizer_choice
from keras_seqattn.cli.main import main, parse
from keras_seqattn.cli.settings import Settings
from keras_seqattn.cli.train_options import given
from keras_seqattn.cli.values import Typed, arguments, typed


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
    found = typed(text, usual)
    assert found == value and type(found) is type(value)


def test_arguments_know_types_by_their_defaults():
    def build(units, symbols="abc", cell="gru"):
        pass

    values = {"units": "8", "symbols": "123", "cell": "lstm"}
    found = arguments("build", build, values)
    assert found == {"units": 8, "symbols": "123", "cell": "lstm"}
    assert arguments("build", build, found) == found  # as they come from JSON
    assert arguments("build", build, {"units": "8"}, {"units": "x"}) == {"units": "8"}


def test_no_setting(capsys):
    assert main(["train", "--set", "units", "--out", "x"]) == 2
    assert capsys.readouterr().err.endswith(
        "error: seqattn got something that is no setting. Expected NAME=VALUE, "
        "received 'units'. Write e.g. units=256, without blanks around the sign.\n"
    )


def test_options_become_settings():
    options = "--set a=1 b=2 --set c=3 --columns 0 1 --joint --minutes 2 --metric wer"
    values = given(parse(["train", *options.split()]))
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
    assert Settings.of(json.loads(json.dumps(settings.to_dict()))) == settings


def test_wrong_type_is_an_error_of_the_user():
    from keras_seqattn.cli.values import call

    with pytest.raises(ValueError) as caught:
        call("range", lambda stop: range(stop), {"stop": "many"})
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
    from keras_seqattn.cli.optimizer_choice import schedule

    made = schedule(Settings(**options), 100)
    found = [float(made(step)) if callable(made) else made for step in (0, 50, 100)]
    assert found == pytest.approx(rates, abs=1e-9)


def test_optimizer_of_a_paper():
    from keras_seqattn.cli.optimizer_choice import optimizer

    settings = Settings(model="sutskever2014", optimizer="paper", ema=0.9)
    made = optimizer(settings, steps_per_epoch=7)
    assert made.global_clipnorm == 5.0 and made.use_ema and made.ema_momentum == 0.9


def test_model_of_ones_own():
    from keras_seqattn.cli import model_choice

    model = Typed("tests.cli.own_model.tiny")
    settings = Settings(model=model, set={"units": "6"})
    model = model_choice.build(settings, 9, 11)
    assert model.source_embedding.input_dim == 9
    assert model.target_embedding.input_dim == 11
    assert model.encoder.units == 6


def test_words_for_texts():
    from keras_seqattn.cli.text_choice import Choice

    options = {"vocabulary_size": 80, "kind": "bpe"}
    assert Choice.of("sentencepiece:80:bpe").options == options
    assert Choice.of("characters").options == {}
    assert Choice.of("words:9").options == {"vocabulary_size": 9}
    with pytest.raises(ValueError, match="^train got a text that it cannot read"):
        Choice.of("words:9:bpe")


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
    from keras_seqattn.cli import training
    from keras_seqattn.cli.run_json import versions
    from keras_seqattn.cli.train import _what
    from keras_seqattn.data.tasks import task

    made = task("reverse", train=3, validation=1, test=1)
    first = training.effective(Settings(task="reverse", **was), made)
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
    again = training.effective(_what(parse(command), None)[0], made)
    found = again.batch_tokens, again.batch_size, again.pad_to_multiple
    assert found == batches


@pytest.mark.parametrize("word", ["no", "off", "0", "flase"])
def test_no_other_word_is_a_switch(word):
    def build(units, feeding=True):
        pass

    assert arguments("build", build, {"feeding": "False"}) == {"feeding": False}
    with pytest.raises(ValueError) as error:
        arguments("build", build, {"feeding": word})
    assert str(error.value) == (
        "build got no value for a switch. Expected feeding=true or feeding=false, "
        f"received feeding={word}. Write one of the two."
    )


@pytest.mark.parametrize("name", sorted(optimizer_choice._known()))
def test_every_optimizer_can_be_made(name):
    for decay in (0.0, 0.01):
        made = optimizer_choice.optimizer(
            Settings(optimizer=name, weight_decay=decay), 9
        )
        assert made.weight_decay == decay or not decay
