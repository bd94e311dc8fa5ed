"""Train a translator, and keep the best one in a folder."""

import argparse

from seqattn_command.options import add_settings

HELP = "train a translator"
EXAMPLES = """\
examples:
  train on a table of pairs, with settings that suit them:
    seqattn train --pairs pairs.tsv --out runs/mine
  train on a built-in task, without a download:
    seqattn train --task dates --preset small --out runs/dates
  train on two files of sentences, with subwords and a larger model:
    seqattn train --source train.en --target train.de --text sentencepiece:8000 \\
        --joint --preset small --set units=256 embedding=256 --out runs/en-de
  train on a corpus, with all options that help:
    seqattn train --corpus multi30k --data multi30k --tokenized --preset small \\
        --learning-rate 0.002 --schedule cosine --warmup 500 --epochs 30 \\
        --label-smoothing 0.1 --ema 0.999 --patience 8 --out runs/multi30k
  continue after Ctrl-C, or with more epochs:
    seqattn train --resume runs/en-de --epochs 20
  train on with your own pairs, from a translator that knows the languages:
    seqattn train --pairs ours.tsv --init-from runs/en-de --out runs/ours
  repeat a run with another seed:
    seqattn train --repeat runs/en-de --seed 1 --out runs/en-de-1

The folder holds run.json (settings, versions, data), translator/ (the best one, for
`seqattn translate`), checkpoints/, history.jsonl, and logs/ for TensorBoard.
"""


def add_options(parser):
    """Add the options of `seqattn train`."""
    parser.usage = "seqattn train (--out RUN | --resume RUN) [options]"
    folders = parser.add_argument_group("run (one of --out and --resume)")
    folders.add_argument("--out", metavar="RUN", help="new folder of the run")
    folders.add_argument(
        "--resume", metavar="RUN", help="continue a run; --epochs may be raised"
    )
    folders.add_argument(
        "--repeat",
        metavar="OLD",
        help="use the settings of another run, or of a run.json, and write into --out",
    )
    groups = add_settings(parser)
    groups["text"].add_argument(
        "--text",
        default=argparse.SUPPRESS,
        metavar="KIND[:SIZE[:TYPE]]",
        help="the same as --source-text and --target-text",
    )
