"""The Transformer of our layers, for training, for searches and for single steps."""

import keras
import numpy as np
import tensorflow as tf
from keras import tree

import keras_seqattn as ks
from benchmarks import keras_fit, searching, sizes
from benchmarks.contender import Contender
from benchmarks.keras_weights import assign, check_complete
from keras_seqattn.decoding import model_state
from keras_seqattn.layers import (
    MultiHeadAttention,
    OutputHead,
    PositionEmbedding,
    TransformerDecoder,
    TransformerEncoder,
)
from keras_seqattn.types import Attended


def training(size, jit_compile=False, steps=5):
    """Return a contender that trains it."""
    model = transformer(size)
    loss = ks.losses.SmoothedCrossentropy(label_smoothing=0.0)
    model.compile(ks.optimizers.FusedAdam(), loss, jit_compile=jit_compile)
    return keras_fit.contender(model, by_name(model), size, steps=steps)


def search(size, width, jit_compile=False):
    """Return a contender that decodes with a beam."""
    model = transformer(size)
    assign(by_name(model), searching.weights(size))
    source = tf.constant(searching.source(size))
    how = ks.BeamSearch(width, n_best=width)

    def decode(source):
        decoded = ks.decode(model, source, how, max_length=size.target)
        return decoded.tokens, decoded.scores

    compiled = tf.function(decode, jit_compile=True) if jit_compile else decode
    return searching.contender(lambda: compiled(source), size)


def step(size, width, position, steps=40):
    """Return a contender: steps of the decoder after a past of `position` positions.

    The self-attention does nothing, so that what is left should not depend on the
    length of the past: the state with its nodes, its room and its order.
    """
    decoder = transformer(size, NoAttention(size.units, size.heads)).decoder
    rng = np.random.default_rng(sizes.SEED)
    values = rng.normal(size=(size.batch, size.source, size.units)).astype("float32")
    inputs = rng.normal(size=(size.batch, width, size.units)).astype("float32")
    parents = rng.integers(0, width, (position + steps, size.batch, width), "int32")

    def run(state, memory, first, count):
        def body(t, state, total):
            state = model_state.make_room(state)
            taken = decoder.step(inputs, state, memory)
            state = model_state.follow(taken.state, tf.gather(parents, t))
            tree.map_structure(lambda x, y: x.set_shape(y.shape), state, shapes)
            return t + 1, state, total + tf.reduce_sum(taken.output)

        state = shapes = model_state.with_any_room(state)
        loop = tf.constant(first), state, 0.0
        return tf.while_loop(lambda t, *_: t < first + count, body, loop)[1:]

    @tf.function
    def begin():
        memory = decoder.prepare(tf.constant(values))
        state = decoder.initial_state(memory, max_length=model_state.STEPS)
        state = model_state.with_beam(state, width)
        return run(state, memory, 0, position)[0], memory

    state, memory = begin()
    go_on = tf.function(lambda state, memory: run(state, memory, position, steps)[1])
    return Contender(lambda: float(go_on(state, memory)), dict)


class NoAttention(MultiHeadAttention):
    """It keeps keys and values as the real one does, and returns its query."""

    def attend(self, query, memory, state=(), training=None):
        return Attended(query, None, state)


def transformer(size, self_attention=None):
    """Return a `Seq2Seq` with one embedding for both languages and the logits."""
    embedding = keras.layers.ReversibleEmbedding(size.vocabulary, size.units)

    def stack(kind, **options):
        return kind(
            size.units,
            layers=size.layers,
            heads=size.heads,
            feed_forward_units=size.feed_forward_units,
            positions=PositionEmbedding(use_scale=True),
            **options,
        )

    return ks.Seq2Seq(
        source_embedding=embedding,
        encoder=stack(TransformerEncoder),
        decoder=stack(TransformerDecoder, self_attention=self_attention),
        head=OutputHead(size.vocabulary, embedding=embedding),
    )


def by_name(model):
    """Return its variables by the names of `benchmarks.sizes.TransformerSize`."""
    variables = {
        "embedding": model.source_embedding.embeddings,
        "logits.bias": model.head.bias,
    }
    for stack in ("encoder", "decoder"):
        for i, block in enumerate(getattr(model, stack).blocks):
            variables |= _of_block(f"{stack}.{i}", block)
    check_complete(model, variables)
    return variables


def _of_block(name, block):
    found = {f"{name}.inner": block.inner, f"{name}.outer": block.outer}
    norms = {f"{name}.dense_norm": block.dense_residual.norm}
    attentions = {"self": (block.self_attention, block.self_residual)}
    if block.attention is not None:
        attentions["cross"] = (block.attention, block.residual)
    for kind, (attention, residual) in attentions.items():
        norms[f"{name}.{kind}_norm"] = residual.norm
        for part in ("query", "key", "value", "output"):
            found[f"{name}.{kind}.{part}"] = getattr(attention, f"{part}_projection")
    variables = {f"{key}.kernel": dense.kernel for key, dense in found.items()}
    biased = {key: dense for key, dense in found.items() if dense.bias is not None}
    variables |= {f"{key}.bias": dense.bias for key, dense in biased.items()}
    variables |= {f"{key}.gamma": norm.gamma for key, norm in norms.items()}
    return variables | {f"{key}.beta": norm.beta for key, norm in norms.items()}
