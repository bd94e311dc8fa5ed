"""Compose a translator of encoder, attention and decoder, and train it with `fit`.

python examples/compose.py          # half a minute on two cores
python examples/compose.py --smoke  # a few steps, to check that it runs

It learns to read dates in many languages and notations, and to write them in one:
"13. Januar 2095" becomes "2095-01-13", letter by letter. It prints the loss of each
epoch, the share of 1000 unseen dates that it writes without a mistake, three of them,
and what the decoder looked at while it wrote them.

The dates come from a package: pip install ".[tasks]". For your own pairs in
two lists, replace `task.train` by `ks.data.Pairs(source, target)`.
"""

import argparse

import keras
from keras.initializers import RandomNormal

import keras_seqattn as ks

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--smoke", action="store_true", help="a few steps only")
args = parser.parse_args()
train, units, epochs = (256, 16, 1) if args.smoke else (8000, 128, 5)
keras.utils.set_random_seed(args.seed)

# Strings become ids: a token is a letter. Words or subwords are possible, too.
task = ks.data.tasks.dates(train=train)
source_text = ks.text.Characters.learn(task.train.source)
target_text = ks.text.Characters.learn(task.train.target)

# The parts. Each can be replaced, and the others stay as they are.
model = ks.Seq2Seq(
    source_embedding=keras.layers.Embedding(
        source_text.vocabulary_size,
        units,
        embeddings_initializer=RandomNormal(stddev=1.0),
    ),
    encoder=ks.BiEncoder(units, cell="gru"),
    bridge=ks.layers.DenseBridge(units),  # from the last state to the first one
    target_embedding=keras.layers.Embedding(
        target_text.vocabulary_size,
        units,
        embeddings_initializer=RandomNormal(stddev=1.0),
    ),
    decoder=ks.AttentionDecoder(
        ks.layers.BahdanauCell(units, attention=ks.BahdanauAttention(units), cell="gru")
    ),
    head=ks.layers.OutputHead(target_text.vocabulary_size),
)

# Stock Keras. Neither the loss nor the metric counts the padding.
model.compile(
    optimizer=keras.optimizers.Adam(2e-3, global_clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    weighted_metrics=[ks.metrics.TokenAccuracy()],
)
translator = ks.Translator(model, source_text, target_text)
batches = translator.dataset(task.train, batch_size=64)  # similar lengths, shuffled
model.fit(batches, epochs=epochs, shuffle=False, verbose=2)

# Strings in, strings out.
print(f"{translator.evaluate(task.test, ['exact_match'])['exact_match']:.1f} % right")
for translation in translator(task.test.source[:3]):
    print(f"\n{translation.source} -> {translation}\n{translation.heat_map()}")
