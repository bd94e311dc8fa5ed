"""The encoder of the reference model with stock Keras layers, for two of the rivals."""

import keras
from keras import layers


def keras_encoder(weights):
    """Return a Keras model: source ids -> values, first state of the decoder."""
    vocabulary, depth = weights["source_embedding"].shape
    units = weights["bridge.bias"].shape[0]
    rnn = layers.GRU(units, return_sequences=True, return_state=True)
    source = keras.Input((None,), dtype="int32")
    embedded = layers.Embedding(vocabulary, depth, name="source_embedding")(source)
    encoder = layers.Bidirectional(rnn, name="encoder")
    values, forward, backward = encoder(embedded)
    final = layers.Concatenate()([forward, backward])
    state = layers.Dense(units, activation="tanh", name="bridge")(final)
    model = keras.Model(source, [values, state])
    model.get_layer("source_embedding").set_weights([weights["source_embedding"]])
    model.get_layer("bridge").set_weights(
        [weights["bridge.kernel"], weights["bridge.bias"]]
    )
    encoder.set_weights(
        [
            weights[f"encoder.{direction}.{name}"]
            for direction in ("forward", "backward")
            for name in ("kernel", "recurrent_kernel", "bias")
        ]
    )
    return model
