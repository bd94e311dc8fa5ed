"""Options of a training that takes a moment."""

TASK = (
    "--task reverse --task-option train=60 validation=10 test=12 lengths=1,4 "
    "symbols=abcde"
).split()
TINY = (
    "--preset small --set units=8 embedding=8 attention_units=8 maxout=4 "
    "--learning-rate 0.01 --batch-size 20 --beam 2"
).split()
