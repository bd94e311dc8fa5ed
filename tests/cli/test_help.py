"""Help: quick, complete, with examples that can be parsed."""

import dataclasses
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from keras_seqattn.export import litert_checks, stored_weights
from keras_seqattn.serving.limits import Limits
from keras_seqattn.shipped_models import shipped_folders
from seqattn_command import main
from seqattn_command.options import SHIPPED_MODELS
from seqattn_command.parser import VERBS, parse
from seqattn_command.settings import Settings
from seqattn_command.verbs import export, serve

ROOT = Path(__file__).parent.parent.parent
HEAVY = {"keras", "keras_seqattn", "numpy", "tensorflow"}


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["train", "--help"], ["trian"], [], ["train", "--set", "x"]],
)
def test_help_and_wrong_options_need_no_tensorflow(arguments):
    code = (
        "import atexit, sys, seqattn_command\n"
        "atexit.register(lambda: print(*(name.split('.')[0] for name in sys.modules)))"
        f"\nsys.exit(seqattn_command.main({arguments!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert "usage: seqattn" in done.stdout + done.stderr
    assert done.returncode == (0 if arguments[-1:] in ([], ["--help"]) else 2)
    modules = done.stdout.splitlines()[-1].split()
    assert "seqattn_command" in modules and not HEAVY & {*modules}


def test_numbers_and_names_that_help_shows_are_those_of_the_library():
    limits = {name: default for name, (default, _) in serve.LIMITS.items()}
    assert limits == dataclasses.asdict(Limits())
    assert {*export.WEIGHTS} == {*stored_weights.KINDS, *litert_checks.WEIGHTS}
    assert {*SHIPPED_MODELS} == {*shipped_folders()}


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(verb, capsys):
    assert main([verb, "--help"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: seqattn {verb} ")
    assert "\nexamples:\n" in said
    assert max(map(len, said.splitlines())) <= 88


def test_examples_can_be_parsed(capsys):
    main(["--help"])
    for verb in VERBS:
        main([verb, "--help"])
    text = capsys.readouterr().out.replace("\\\n", " ")
    commands = re.findall(r"^ +(?:cat .*\| )?seqattn (.*?)(?:  +.*| >.*)?$", text, re.M)
    commands += re.findall(r"`seqattn (.*?)`", text)
    examples = [c for c in commands if c.split()[0] in VERBS and "[" not in c]
    assert len(examples) > 20
    for example in examples:
        words = shlex.split(re.sub(r"  +", "  ", example).split("  ")[0])
        if words != ["translate"]:
            parse(words)


def test_every_setting_has_help():
    for field in dataclasses.fields(Settings):
        assert len(field.metadata["help"]) > 3, field.name


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("keras_seqattn ")


def test_options_are_not_guessed(capsys):
    assert main(["train", "--tas", "dates"]) == 2  # a later release may have --tasks
    assert "unrecognized arguments: --tas" in capsys.readouterr().err


def test_debug_shows_where(tmp_path):
    with pytest.raises(ValueError, match="^seqattn found no translator"):
        main(["inspect", str(tmp_path), "--debug"])


@pytest.mark.slow
def test_module():
    command = [sys.executable, "-m", "keras_seqattn", "--version"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.startswith("keras_seqattn ") and done.returncode == 0
