"""The Transformer of KerasHub's layers: their cache, and their beam sampler.

The decoder keeps keys and values as KerasHub's own models do. Those send the outputs of
the encoder and the cache of the cross-attention through the sampler, too, which gathers
them at each step; `is_careful` leaves them out of it.
"""

import keras
import keras_hub
import tensorflow as tf
from keras import ops

from benchmarks import keras_fit, searching
from benchmarks.keras_weights import assign, check_complete

START = 1


class HubTransformer(keras.Model):
    """An encoder and a decoder of KerasHub's layers, one embedding for all."""

    def __init__(self, size):
        super().__init__()
        self.size = size
        self.embedding = keras.layers.ReversibleEmbedding(size.vocabulary, size.units)
        self.positions = keras_hub.layers.SinePositionEncoding()
        self.logits_bias = self.add_weight(
            shape=(size.vocabulary,), initializer="zeros", name="logits_bias"
        )
        of_layer = {
            "intermediate_dim": size.feed_forward_units,
            "num_heads": size.heads,
            "layer_norm_epsilon": 1e-6,
        }
        self.encoder = [
            keras_hub.layers.TransformerEncoder(**of_layer) for _ in range(size.layers)
        ]
        self.decoder = [
            keras_hub.layers.TransformerDecoder(**of_layer) for _ in range(size.layers)
        ]

    def call(self, inputs):
        values, mask = self.encode(inputs["source"])
        target = inputs["target"]
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(
                x,
                values,
                decoder_padding_mask=ops.not_equal(target, 0),
                encoder_padding_mask=mask,
            )
        return self.logits(x)

    def embed(self, ids, start_index=0):
        x = self.embedding(ids) * self.size.units**0.5
        return x + self.positions(x, start_index=start_index)

    def encode(self, source):
        mask = ops.not_equal(source, 0)
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x, padding_mask=mask)
        return x, mask

    def logits(self, x):
        return self.embedding(x, reverse=True) + self.logits_bias

    def start(self, source, length):
        """Return the cache of the self-attention, and what the steps read."""
        values, mask = self.encode(source)
        heads, batch = self.size.heads, ops.shape(source)[0]
        depth, places = self.size.units // heads, ops.shape(source)[1]
        layers = range(self.size.layers)
        own = [ops.zeros((batch, 2, length, heads, depth)) for _ in layers]
        cross, x = [], self.embed(ops.full((batch, 1), START, "int32"))
        for layer, cache in zip(self.decoder, own, strict=True):
            x, _, memory = layer(
                x,
                values,
                encoder_padding_mask=mask,
                self_attention_cache=cache,
                self_attention_cache_update_index=0,
                cross_attention_cache=ops.zeros((batch, 2, places, heads, depth)),
                cross_attention_cache_update_index=0,
            )
            cross.append(memory)
        return ops.stack(own, axis=1), (values, mask, ops.stack(cross, axis=1))

    def step(self, ids, own, memory, index):
        """Return the logits of one position, and the cache with it."""
        values, mask, cross = memory
        x, caches = self.embed(ids, index), []
        for i, layer in enumerate(self.decoder):
            x, cache, _ = layer(
                x,
                values,
                encoder_padding_mask=mask,
                self_attention_cache=own[:, i],
                self_attention_cache_update_index=index,
                cross_attention_cache=cross[:, i],
                cross_attention_cache_update_index=None,
            )
            caches.append(cache)
        return self.logits(x)[:, 0], ops.stack(caches, axis=1)


def training(size, jit_compile=False, steps=5):
    """Return a contender that trains it with Keras's loss and Adam."""
    model, variables = _made(size)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(), loss, jit_compile=jit_compile)
    return keras_fit.contender(model, variables, size, steps=steps)


def search(size, width, jit_compile=False, is_careful=False):
    """Return a contender that decodes with KerasHub's beam sampler."""
    model, variables = _made(size)
    assign(variables, searching.weights(size))
    source = tf.constant(searching.source(size))
    sampler = keras_hub.samplers.BeamSampler(width, return_all_beams=True)

    @tf.function(jit_compile=jit_compile)
    def decode(source):
        own, memory = model.start(source, size.target + 1)
        tiled = keras.tree.map_structure(lambda x: ops.repeat(x, width, axis=0), memory)

        def following(prompt, cache, index):
            ids = ops.slice(prompt, [0, index - 1], [ops.shape(prompt)[0], 1])
            if is_careful:
                logits, cache = model.step(ids, cache, tiled, index - 1)
                return logits, None, cache
            logits, own = model.step(ids, cache[0], cache[1], index - 1)
            return logits, None, (own, cache[1])

        prompt = ops.full((size.batch, 1), START, "int32")
        prompt = ops.pad(prompt, [[0, 0], [0, size.target]])
        cache = own if is_careful else (own, memory)
        found, scores = sampler(following, prompt, cache=cache, index=1)
        return found[..., 1:], scores

    return searching.contender(lambda: decode(source), size)


def _made(size):
    """Return the model and its variables by name."""
    model = HubTransformer(size)
    ids = ops.ones((1, 2), "int32")
    model({"source": ids, "target": ids})  # makes the variables
    variables = {
        "embedding": model.embedding.embeddings,
        "logits.bias": model.logits_bias,
    }
    for stack in ("encoder", "decoder"):
        for i, layer in enumerate(getattr(model, stack)):
            variables |= _of_layer(f"{stack}.{i}", layer)
    for variable in model.trainable_variables:
        if variable.path.endswith("/key/bias"):  # zero, and no alignment depends on it
            variable.trainable = False
    check_complete(model, variables)
    return model, variables


def _of_layer(name, layer):
    found = {
        f"{name}.inner": layer._feedforward_intermediate_dense,
        f"{name}.outer": layer._feedforward_output_dense,
    }
    norms = {f"{name}.dense_norm": layer._feedforward_layer_norm}
    attentions = {"self": "_self_attention"}
    if hasattr(layer, "_cross_attention_layer"):
        attentions["cross"] = "_cross_attention"
    for kind, start in attentions.items():
        attention = getattr(layer, f"{start}_layer")
        norms[f"{name}.{kind}_norm"] = getattr(layer, f"{start}_layer_norm")
        for part in ("query", "key", "value", "output"):
            found[f"{name}.{kind}.{part}"] = getattr(attention, f"_{part}_dense")
    variables = {f"{key}.kernel": dense.kernel for key, dense in found.items()}
    biases = {key: dense for key, dense in found.items() if not key.endswith(".key")}
    variables |= {f"{key}.bias": dense.bias for key, dense in biases.items()}
    variables |= {f"{key}.gamma": norm.gamma for key, norm in norms.items()}
    return variables | {f"{key}.beta": norm.beta for key, norm in norms.items()}
