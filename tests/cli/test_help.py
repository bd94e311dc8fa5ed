"""Help: quick, complete, with examples that can be parsed."""

import dataclasses
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from keras_seqattn.cli.main import VERBS, main, parse
from keras_seqattn.cli.settings import Settings

ROOT = Path(__file__).parent.parent.parent
NAMES = [verb.__name__.rpartition(".")[2] for verb in VERBS]


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["trian"], []])
def test_help_needs_no_tensorflow(arguments):
    code = (
        "import atexit, sys, seqattn_command\n"
        f"sys.argv = ['seqattn', *{arguments!r}]\n"
        "atexit.register(lambda: print('keras' in sys.modules, 'numpy' in sys.modules))"
        "\nsys.exit(seqattn_command.main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.endswith("False False\n"), done
    assert done.returncode == (2 if arguments == ["trian"] else 0)
    assert "usage: seqattn" in done.stdout + done.stderr


@pytest.mark.parametrize("verb", NAMES)
def test_help_of_a_verb(verb, capsys):
    assert main([verb, "--help"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: seqattn {verb} ")
    assert "\nexamples:\n" in said
    assert max(map(len, said.splitlines())) <= 88


def test_examples_can_be_parsed(capsys):
    main(["--help"])
    for verb in NAMES:
        main([verb, "--help"])
    text = capsys.readouterr().out.replace("\\\n", " ")
    commands = re.findall(r"^ +(?:cat .*\| )?seqattn (.*?)(?:  +.*| >.*)?$", text, re.M)
    commands += re.findall(r"`seqattn (.*?)`", text)
    examples = [c for c in commands if c.split()[0] in NAMES and "[" not in c]
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
