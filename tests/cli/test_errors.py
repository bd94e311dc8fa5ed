"""What the command says if its words cannot be right, and that it leaves nothing."""

import re
import shlex
import sys

import pytest

# A command, and below it the message; what stands between its parts may be anything.
# @run is the folder of a run, @new a folder that is empty.
ROWS = """
train --out @new/run
    seqattn got no data. Expected one of --task, --corpus, --pairs and --source,
    received none of them. Name a table of pairs with --pairs, or two files with
    --source and --target; or try --task dates.
train --source a --pairs b --out @new/run
    seqattn got several data sets ... received --pairs and --source. Leave out the
train --source @new/a --target @new/b --model nowhere.tiny --out @new/run
    --source got a path without a file ... received '@new/a'
train --pairs 'one two' --out @new/run
    --pairs got a path without a file ... Check the folder and the spelling; if it is a
    text, write it into a file, and name the file.
train @task --pairs a.tsv --out @new/run
    seqattn got several data sets ... received --task and --pairs. Leave out the others.
train --target a.de --out @new/run
    seqattn got one side only ... received --target alone
train --source @new/a --target @new/./a --out @new/run
    seqattn got the same file for both sides ... '@new/a' twice. Name the file of the
    other language; to learn to copy, name a copy.
train @task --validation-source a --out @new/run
    seqattn got one side only ... received --validation-source alone
train --pairs a --validation-pairs b --validation-source c --validation-target d --out x
    train got several validation sets ... --validation-pairs and --validation-source
train @task --languages de en --out @new/run
    train got a setting that has no effect. Expected --languages only with --corpus
    multi30k, received --languages without. Leave it out, or add what it needs.
train @task --preset small --optimizer paper --warmup 4 --out @new/run
    train got a setting that has no effect ... --warmup only with an optimizer of Keras
train @task --preset small --schedule nvidia_gnmt --warmup 5000 --out @new/run
    train got a warm-up for a schedule that has its own ... --warmup 5000
train @task --schedule inverse_root --warmup 0 --out @new/run
    train got no warm-up for a schedule that begins with one ... --warmup 0
train @task --epochs 0 --out @new/run
    train got an unusable --epochs. Expected 1 or more, received 0. See seqattn train
    --help.
train @task --minutes 0 --out @new/run
    train got an unusable --minutes ... more than 0, received 0
train @task --ema 1 --out @new/run
    train got an unusable --ema ... less than 1, received 1.0
train @task --learning-rate nan --out @new/run
    train got an unusable --learning-rate ... more than 0, received nan
train --task date --preset small --out @new/run
    seqattn got an unknown task ... received 'date'. Use 'dates', the nearest.
train --task sort --task-option length=3 --preset small --out @new/run
    sort got an unknown argument. Expected one of lengths, seed, symbols, test, train,
    validation, received 'length'. Use 'lengths', the nearest.
train --corpus tatoeba --preset small --out @new/run
    train got a corpus without its file ... www.manythings.org/anki ... tatoeba alone
train @task --model nowhere.tiny --out @new/run
    train got a model whose module cannot be imported ... (No module named 'nowhere')
train @task --preset smal --out @new/run
    bahdanau2015 got an unknown preset ... one of paper, small, received 'smal'
train @task --preset small --set unit=3 --out @new/run
    bahdanau2015 got an unknown argument ... maxout, source_vocabulary ... 'unit'
train @task --model bahdanau2015 --set units=8 --out @new/run
    bahdanau2015 lacks arguments. Expected a value for each argument without a default,
    received none for embedding, attention_units, maxout. Add --preset small, or --set
    embedding=... attention_units=... maxout=....
train @task --model tests.cli.own_model.tiny --preset small --out @new/run
    tests.cli.own_model.tiny got an unknown preset ... one of none: there are none
train @task --model tests.cli.own_model.tiny --optimizer paper --out @new/run
    train did not find the optimizer of the paper ... tests.cli.own_model.tiny_optimizer
train @task --preset small --optimizer adamv --out @new/run
    train got an unknown optimizer. Expected one of adadelta, adafactor, adagrad, adam,
    adamax, adamw, ftrl, lamb, lion, muon, nadam, paper, rmsprop, schedulefreeadamw,
    sgd, received 'adamv'. Use 'adam', the nearest.
train @task --preset small --optimizer lion --optimizer-option beta3=0.9 --out @new/run
    lion got an unknown argument ... received 'beta3'. Use 'beta_2', the nearest.
train @task --preset small --metric blue --out @new/run
    text_metric got an unknown metric ... received 'blue'. Use 'bleu', the nearest
train @task --preset small --text letters --out @new/run
    train got an unknown kind of text ... one of characters ... received 'letters'
train @task --preset small --text sentencepiece --out @new/run
    train got subwords without a size ... sentencepiece:SIZE, received 'sentencepiece'
train @task --preset small --text words:many --out @new/run
    train got an unusable kind of text ... received 'words:many'
train @task --preset small --source-text words --joint --out @new/run
    train got two kinds of text for one vocabulary ... words and what suits the data
train @task --preset small --text words --sample 0.1 --out @new/run
    train got texts that cannot be sampled ... words and words ... sentencepiece:8000
train @task --preset small
    train got no usable folder ... received none of them
train @task --preset small --out @run
    train got the folder of another run ... seqattn train --resume @run
train --resume @run --seed 3 --epochs 4
    train got settings that a resumed run cannot change ... on_divergence ... seed=3
train --resume @new
    seqattn found no settings of a run ... '@new/run.json', which does not exist
train --repeat @run/run.json --out @new/run --corpus multi30k
    train got another kind of data than the run that it repeats ... received --corpus
train @task --init-from @new/none --out @new/run
    seqattn found no translator ... '@new/none', which does not exist
train --resume @run --init-from dates
    train got settings that a resumed run cannot change ... init_from='dates'
train @task --init-from @run --joint --out @new/run
    train got a setting that has no effect ... --joint only with --text beside
    --init-from, received --joint without
train @task --init-from @run --source-vectors a --out @new/run
    train got a setting that has no effect ... only with a model without --init-from
train @task --init-from dates --set units=4 --out @new/run
    train got --set for a model whose function is not known. Expected --model NAME, or
    --init-from with a run whose run.json names it, received --init-from dates. Add
    --model, or leave --set out.
train @task --init-from dates --optimizer paper --out @new/run
    train got --optimizer paper for a model whose function is not known
train @task --init-from @run --sample 0.1 --out @new/run
    train got texts that cannot be sampled ... Characters in the translator of
train @task --preset small --freeze encodr --out @new/run
    freeze found no layer of this name that has weights. Expected source_embedding,
    encoder, bridge, target_embedding, decoder, head, or a layer inside, e.g.
    decoder/cell, received 'encodr'. Use 'encoder', the nearest.
train @task --preset small --text words --source-vectors none --out @new/run
    word_vectors did not find a file ... '@new/none'. Check the folder
train @task --preset small --text characters --source-vectors a --out @new/run
    train cannot use --source-vectors @new/a. Expected an embedding of words, received
    Characters as the source text. Add --source-text words, or leave the file out.
translate
    translate got no translator ... received neither RUN nor --model
translate 'How are you?'
    translate got no translator ... received 'How are you?'. Name the folder
translate dates third of May
    translate got too many files. Expected RUN, or RUN and one FILE; or texts, received
    'dates' 'third' 'of' 'May'. Write seqattn translate dates 'third of May'.
translate dates 'third of' May
    translate got too many files ... Write seqattn translate --model dates 'third of'
    May.
translate dates 'third of' a/May
    translate got too many files ... Translate one file after the other.
translate dates May
    seqattn got a path without a file. Expected a text file, UTF-8, received 'May'.
    Check the spelling. If it is a text, write: seqattn translate --model dates May.
translate --model dotes 'third of May'
    seqattn found no translator ... received 'dotes', which does not exist
inspect @new
    seqattn found no translator. Expected the folder of a run of seqattn train, one
    written by Translator.save, or the name of a shipped model (dates, g2p,
    numbers-en-de), received '@new', a path without translator.json. Check the path; a
    run has a translator after its first validation.
translate @run @new/nowhere
    seqattn got a path without a file. Expected a path of a file, received
    '@new/nowhere', which does not exist. Check the folder and the spelling.
translate @new/a.en @run
    translate got its words in the wrong order. Expected RUN first, received
    '@new/a.en' '@run'. Write: seqattn translate @run @new/a.en.
evaluate @run --source a --target b --tokenized
    seqattn got a setting that has no effect ... --tokenized only with --corpus multi30k
evaluate @new/no --output @new/no/x
    seqattn got an output that it cannot write ... x, in a folder that does not exist
evaluate @run --pairs @new/nowhere.tsv --metric wer blue
    text_metric got an unknown metric
score @run --source a --target b --columns 0 1
    seqattn got a setting that has no effect ... --columns only with --pairs
score @run --pairs a --split test
    seqattn got a split of files ... received --split test and files
score dates
    seqattn got no pairs ... received none of them, and 'dates', which is not a run
inspect @new/x
    seqattn found no translator ... received '@new/x', which does not exist
inspect dates --html @new/page.html
    inspect got no sentences for its page ... received 'dates', a translator alone
inspect @run --html @new
    seqattn got an output that it cannot write ... received --html @new, a folder
inspect @run --text a
    inspect got options that do not go together. Expected --html FILE, with --text TEXT
    (once or more) or --count N, 1 or more, received --text without. Add --html.
inspect @run --count 2
    inspect got options that do not go together ... --count without. Add --html.
inspect @run --beam 2
    inspect got options that do not go together ... --beam without
inspect @run --length-penalty 1
    inspect got options that do not go together ... --length-penalty without
inspect @run --html x --text a --count 2
    inspect got options that do not go together ... --text and --count. Choose one of
inspect @run --html x --count 0
    inspect got options that do not go together ... --count 0. Count from 1.
tasks sorts
    tasks got an unknown task ... received 'sorts'. Use 'sort', the nearest.
tasks --task-option train=5 symbols=ab
    tasks got options without a task ... received train=5 symbols=ab alone
tasks --examples 0
    tasks got an unusable --examples ... 1 or more, received 0
export x @run --litert
    export got its words in the wrong order ... Write: seqattn export @run x.
export @run @new/x --version 0
    export got an unusable version ... received version=0
export @run @new/x --note files=mine
    export got a manifest with reserved names ... received files
export @run @new/x --note a=1 seed=3 --note data=mine
    export got notes that would replace fields of the run. Expected names other than
    model, metrics, command, seed, data, trained_with, received seed=3 and data=mine
export @run @new/x --warmup none
    seqattn got a path without a file ... received 'none'
export @new/no @new/x --litert
    export lacks a length. Expected --source-length and --target-length with --litert,
    because all shapes of a LiteRT file are fixed, received neither
export @new/no @new/x --litert --target-length 5
    export lacks a length ... received --target-length only
export @new/no @new/x @litert --note a=1 --version 0 --warmup none
    export got options of a SavedModel for LiteRT ... --version, --warmup, --note with
export @new/no @new/x --source-length 0 --batch 1
    export got options of LiteRT for a SavedModel ... --source-length, --batch without
export @new/no @new/x @litert --weights bfloat16
    export got weights that it cannot write as LiteRT ... Write --weights float16
export @new/no @new/x --weights float16
    export got weights that it cannot write as SavedModel ... Write --weights bfloat16
export @new/no @new/ @litert
    export got a folder for a LiteRT file ... '@new/', a folder ... e.g. @new.tflite
export @run @new/x --litert --source-length 1 --target-length 5
    export_litert got an unusable source_length
serve @new
    serve found no exported model
"""
WORDS = {"@task": "--task reverse"}
WORDS["@litert"] = "--litert --source-length 6 --target-length 9"


def rows():
    for row in re.split(r"\n(?=\w)", ROWS.strip()):
        command, *message = row.splitlines()
        yield pytest.param(command, " ".join(map(str.strip, message)), id=command)


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files}


@pytest.mark.parametrize(("command", "message"), [*rows()])
def test_message(fails, trained, tmp_path, monkeypatch, command, message):
    new, before = tmp_path / "new", contents(trained)
    new.mkdir()
    monkeypatch.chdir(new)
    for word, value in {**WORDS, "@run": str(trained), "@new": str(new)}.items():
        command, message = command.replace(word, value), message.replace(word, value)
    fails(shlex.split(command), *message.split(" ... "))
    assert not list(new.iterdir()) and contents(trained) == before


WITH_METRICS = [
    "train --pairs none --preset small --metric wer bleu --out x",
    "train --pairs pairs.tsv --validation-size 1 --out x",
    "evaluate @run --pairs none --metric wer chrf",
]


@pytest.mark.parametrize("command", WITH_METRICS)
def test_missing_package(failing, files, trained, tmp_path, monkeypatch, command):
    """Of the metrics: it is reported before pairs are read, or before training."""
    files(**{"pairs.tsv": [f"{i} a\t{i} b" for i in range(9)]})  # subwords: chrF
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    message = failing(*command.replace("@run", str(trained)).split())
    assert 'pip install "keras_seqattn[metrics]"' in message
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.tsv"]
