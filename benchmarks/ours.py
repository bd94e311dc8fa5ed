"""The reference model of our layers, for training and for searches."""

import warnings

import keras
import tensorflow as tf

import keras_seqattn as ks
from benchmarks import keras_fit, searching
from benchmarks.keras_weights import assign, check_complete, gru_weights

PARTS = ("source_embedding", "target_embedding", "encoder", "bridge", "decoder")


def training(
    size, masked=False, policy="float32", jit_compile=False, steps=5, fused=False
):
    """Return a contender that trains it; `fused` takes the loss without logits."""
    keras.config.set_dtype_policy(policy)
    made = compiled(size, masked, jit_compile, fused)
    return keras_fit.contender(*made, size, masked, steps)


def compiled(size, masked, jit_compile=False, fused=False):
    """Return the model with the library's loss and Adam, and its variables by name."""
    model = functional_model(size, masked)
    loss = ks.losses.FusedCrossentropy if fused else ks.losses.SmoothedCrossentropy
    model.compile(
        ks.optimizers.FusedAdam(), loss(label_smoothing=0.0), jit_compile=jit_compile
    )
    return model, by_name({layer.name: layer for layer in model.layers})


def search(size, width=None, jit_compile=False):
    """Return a contender that decodes; it has scores only with a beam.

    Args:
        size: `Size`.
        width: width of the beam; None: greedy search.
        jit_compile: whether XLA compiles the whole search; else it is called eagerly.
    """
    model = seq2seq(size)
    layers = {name: getattr(model, name) for name in PARTS}
    layers |= {"hidden": model.head.hidden, "logits": model.head.logits}
    variables = by_name(layers)
    check_complete(model, variables)
    assign(variables, searching.weights(size))
    source = tf.constant(searching.source(size))
    how = ks.Greedy() if width is None else ks.BeamSearch(width, n_best=width)

    def decode(source):
        decoded = ks.decode(model, source, how, max_length=size.target)
        return (decoded.tokens, decoded.scores)[: 1 if width is None else 2]

    compiled = tf.function(decode, jit_compile=True) if jit_compile else decode
    return searching.contender(lambda: compiled(source), size)


def functional_model(size, masked=False):
    """Return the model as in the README; it has no masks if `masked` is False."""

    def embedding(name):
        return keras.layers.Embedding(
            size.vocabulary, size.embedding, mask_zero=masked, name=name
        )

    source = keras.Input((None,), dtype="int32", name="source")
    target = keras.Input((None,), dtype="int32", name="target")
    embedded_source = embedding("source_embedding")(source)
    embedded_target = embedding("target_embedding")(target)
    encoded = ks.BiEncoder(size.units, cell="gru", name="encoder")(embedded_source)
    state = ks.layers.DenseBridge(size.units, name="bridge")(encoded)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without masks nothing is padded
        outputs = ks.AttentionDecoder(cell(size.units), name="decoder")(
            embedded_target,
            encoded.values,
            initial_state=state,
            value_mask=encoded.mask if masked else None,
        )
    hidden = keras.layers.Dense(size.units, activation="tanh", name="hidden")(outputs)
    logits = ks.layers.OutputHead(size.vocabulary, name="logits")(hidden)
    return keras.Model({"source": source, "target": target}, logits)


def seq2seq(size, head=None, decoder_cell=None):
    """Return the same model as a `Seq2Seq`, always with masks."""
    head = Readout(size.units, size.vocabulary) if head is None else head
    return ks.Seq2Seq(
        source_embedding=keras.layers.Embedding(size.vocabulary, size.embedding),
        encoder=ks.BiEncoder(size.units, cell="gru"),
        bridge=ks.layers.DenseBridge(size.units),
        target_embedding=keras.layers.Embedding(size.vocabulary, size.embedding),
        decoder=ks.AttentionDecoder(decoder_cell or cell(size.units)),
        head=head,
    )


def cell(units):
    return ks.layers.BahdanauCell(
        units, attention=ks.BahdanauAttention(units), cell="gru"
    )


class Readout(keras.layers.Layer):
    """The head: one hidden layer, then the vocabulary."""

    def __init__(self, units, vocabulary, **kwargs):
        super().__init__(**kwargs)
        self.hidden = keras.layers.Dense(units, activation="tanh")
        self.logits = ks.layers.OutputHead(vocabulary)

    def build(self, outputs_shape):
        self.hidden.build(outputs_shape)
        self.logits.build((*outputs_shape[:-1], self.hidden.units))

    def call(self, outputs):
        return self.logits(self.hidden(outputs))

    def compute_output_shape(self, outputs_shape):
        return (*outputs_shape[:-1], self.logits.vocabulary_size)


def by_name(layers):
    """Return our variables by common names; a tuple is one array elsewhere.

    Args:
        layers: dict of the embeddings, "encoder", "bridge", "decoder", and the parts
            "hidden" and "logits" of the head.
    """
    encoder, decoder = layers["encoder"], layers["decoder"]
    [bridge] = layers["bridge"].projections
    recurrence, attention = decoder.cell.recurrence.cells[0], decoder.cell.attention
    read, fed = recurrence.input_kernel, recurrence.fed_kernel
    variables = {
        "bridge.kernel": bridge.kernel,
        "bridge.bias": bridge.bias,
        "key.kernel": attention.key_projection.kernel,
        "query.kernel": attention.query_projection.kernel,
        "score.kernel": attention.v,
        "decoder.kernel": (read.kernel, fed.kernel),
        "decoder.recurrent_kernel": recurrence.recurrent_kernel.kernel,
        "decoder.bias": (read.bias, recurrence.recurrent_kernel.bias),
    }
    for name in ("source_embedding", "target_embedding"):
        variables[name] = layers[name].embeddings
    hidden, logits = layers["hidden"], layers["logits"]
    variables |= {
        "hidden.kernel": hidden.kernel,
        "hidden.bias": hidden.bias,
        "logits.kernel": logits.projection.kernel,
        "logits.bias": logits.bias,
    }
    for layer in encoder.forward_layers + encoder.backward_layers:
        direction = layer.name.split("_")[0]
        variables.update(gru_weights(f"encoder.{direction}", layer.cell))
    return variables
