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

HEAVY = {"keras", "keras_seqattn", "numpy", "tensorflow"}


def run_python(*options):
    how = {"cwd": Path(__file__).parents[2], "capture_output": True, "text": True}
    return subprocess.run([sys.executable, *options], **how)


def test_help_needs_no_tensorflow_and_knows_the_library():
    calls = [["--help"], ["train", "--help"], [], ["trian"], ["train", "--set", "x"]]
    code = (
        "import sys, seqattn_command\n"
        f"codes = [seqattn_command.main(arguments) for arguments in {calls}]\n"
        "print(*codes)\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = run_python("-c", code)
    assert (done.stdout + done.stderr).count("usage: seqattn") == len(calls)
    *_, codes, modules = done.stdout.splitlines()
    assert codes == "0 0 0 2 2", done.stderr
    assert "seqattn_command" in modules.split() and not HEAVY & {*modules.split()}
    limits = {name: default for name, (default, _) in serve.LIMITS.items()}
    assert limits == dataclasses.asdict(Limits())
    assert {*export.WEIGHTS} == {*stored_weights.KINDS, *litert_checks.WEIGHTS}
    assert {*SHIPPED_MODELS} == {*shipped_folders()}


def test_help_of_verbs_has_examples_that_can_be_parsed(capsys):
    main(["--help"])
    text = capsys.readouterr().out
    for verb in VERBS:
        assert main([verb, "--help"]) == 0
        own = capsys.readouterr().out
        assert own.startswith(f"usage: seqattn {verb} ") and "\nexamples:\n" in own
        assert max(map(len, own.splitlines())) <= 88
        text += own
    text = text.replace("\\\n", " ")
    commands = re.findall(r"^ +(?:cat .*\| )?seqattn (.*?)(?:  +.*| >.*)?$", text, re.M)
    commands += re.findall(r"`seqattn (.*?)`", text)
    examples = [c for c in commands if c.split()[0] in VERBS and "[" not in c]
    assert len(examples) > 20
    for example in examples:
        words = shlex.split(re.sub(r"  +", "  ", example).split("  ")[0])
        if words != ["translate"]:
            parse(words)


def test_every_setting_has_help_and_there_is_a_version(capsys):
    for field in dataclasses.fields(Settings):
        assert len(field.metadata["help"]) > 3, field.name
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("keras_seqattn ")


MISPLACED = {
    "train --tas dates": "--tas dates. Did you mean --task?",  # options are not guessed
    "train own.tsv --out x": "own.tsv. Write --pairs own.tsv",
    "evaluate RUN a.de --json a.en": "a.de a.en. Write --source a.de --target a.en",
    "inspect RUN 'How are you?'": "'How are you?'. Write --html page.html --text 'How "
    "are you?'",
    "train --pairs a.en a.de": "a.de. Instead of --pairs write --source a.en --target "
    "a.de",
    "evaluate a.tsv dates --beam 2": "dates. Write RUN first: seqattn evaluate dates "
    "--beam 2 --pairs a.tsv",
    "inspect 'a b' dates --html x": "dates. Write RUN first: seqattn inspect dates "
    "--html x --text 'a b'",
    "--out x train --joint": "the verb comes first, before its options. Write seqattn "
    "train --out x --joint",
    "evaluate --metric wer per RUN": "the following arguments are required: RUN. Write "
    "RUN first, because --metric takes all words that follow it",
    "evaluate --metric=wer": "the following arguments are required: RUN",
}


@pytest.mark.parametrize(("command", "message"), MISPLACED.items())
def test_words_in_a_wrong_place(capsys, command, message):
    assert main(shlex.split(command)) == 2
    assert capsys.readouterr().err.endswith(f"{message}\n")


def test_options_may_stand_anywhere_and_debug_raises(tmp_path):
    orders = "RUN OUT --beam 1", "--beam 1 RUN OUT", "RUN --beam 1 OUT"
    first, *others = (parse(["export", *order.split()]) for order in orders)
    assert (first.run, first.out, first.beam) == ("RUN", "OUT", 1)
    assert [first] * 2 == others
    with pytest.raises(ValueError, match="^seqattn found no translator"):
        main(["inspect", str(tmp_path), "--debug"])


@pytest.mark.slow
def test_module():
    done = run_python("-m", "keras_seqattn", "--version")
    assert done.stdout.startswith("keras_seqattn ") and done.returncode == 0
