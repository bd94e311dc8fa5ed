"""An attention mechanism of your own: write the score, the rest is there.

python examples/custom_attention.py          # half a minute on two cores
python examples/custom_attention.py --smoke  # a few steps, only to see that it runs

`CosineAttention` compares directions: how long query and key are does not matter, and
a learned number says how sharply it looks. What the library promises of its own layers
is checked on it first: saving, masks, NaN in the padding, XLA, half precision,
gradients, all steps at once as one by one. Then a decoder takes it as its `attention`
and learns to write letters from behind. It prints the checks, the loss of each epoch,
how many of 500 unseen sequences are right, the learned number, and where the decoder
looked.

CONTRIBUTING.md has the seven steps from here into the library.
"""

import argparse

import keras
from keras import ops

import keras_seqattn as ks
from keras_seqattn.testing import (
    PADDED_ATTENTION,
    Case,
    attention_arguments,
    attention_stepwise,
    check_precision,
    checks_for,
)


@keras.saving.register_keras_serializable(package="examples")
class CosineAttention(ks.layers.Attention):
    """e[b, s] = g * cos((W_q query)[b], (W_k value)[b, s])

    Args:
        units: size of the space in which query and keys meet.
        **kwargs: of `Attention`: dropout, value_units, ...
    """

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.query_projection = self.projection("query_projection")  # W_q
        self.key_projection = self.projection("key_projection")  # W_k

    def projection(self, name):
        return keras.layers.Dense(
            self.units,
            use_bias=False,
            kernel_initializer=self.kernel_initializer.clone(),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, query_shape, value_shape):
        super().build(query_shape, value_shape)
        self.query_projection.build(query_shape)
        self.key_projection.build(value_shape)
        start = keras.initializers.Constant(8.0)  # a cosine alone is hardly a choice
        self.g = self.add_weight(name="g", shape=(), initializer=start)

    def project_keys(self, value):
        """Once for each source: what depends on no query."""
        return direction(self.key_projection(value))

    def score(self, query, memory, state=()):
        """`[batch, ..., source]`: the axes between are queries, as those of a beam."""
        query = direction(self.query_projection(query))
        cosine = ops.einsum("b...u,bsu->b...s", query, memory.keys)
        return ops.cast(self.g, self.compute_dtype) * cosine

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def direction(x):
    """`x / |x|`, and zero for zero: the padding has no direction."""
    return x * ops.rsqrt(ops.sum(ops.square(x), axis=-1, keepdims=True) + 1e-6)


def check():
    """The contract of `keras_seqattn.testing`; a broken one is an AssertionError."""
    case = Case(
        "CosineAttention",
        lambda: CosineAttention(8),
        attention_arguments,
        PADDED_ATTENTION,
        attention_stepwise,
    )
    for check in checks_for(case):
        check(case)
        print(f"ok: {check.__doc__.splitlines()[0]}")
    check_precision(case, "mixed_float16")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smoke", action="store_true", help="a few steps only")
    args = parser.parse_args()
    train, units, epochs = (256, 16, 1) if args.smoke else (20_000, 64, 4)
    keras.utils.set_random_seed(args.seed)
    check()

    task = ks.data.tasks.reverse(train=train)
    letters = ks.text.Characters.learn(task.train.source)
    attention = CosineAttention(units)
    model = ks.Seq2Seq(
        source_embedding=keras.layers.Embedding(letters.vocabulary_size, units),
        encoder=ks.BiEncoder(units, cell="gru"),
        bridge=ks.layers.DenseBridge(units),
        target_embedding=keras.layers.Embedding(letters.vocabulary_size, units),
        decoder=ks.AttentionDecoder(
            ks.layers.BahdanauCell(units, attention=attention, cell="gru")
        ),
        head=ks.layers.OutputHead(letters.vocabulary_size),
    )
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3, global_clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    translator = ks.Translator(model, letters, letters)
    batches = translator.dataset(task.train, batch_size=64)
    model.fit(batches, epochs=epochs, shuffle=False, verbose=2)

    found = translator.evaluate(task.test, ["exact_match"])["exact_match"]
    print(f"{found:.1f} % right, g = {float(attention.g):.1f}")
    print(translator("keras").heat_map())


if __name__ == "__main__":
    main()
