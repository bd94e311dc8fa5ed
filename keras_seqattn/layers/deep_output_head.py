"""Bahdanau et al. 2015, Sennrich et al. 2017: deep output, with or without maxout."""

import keras
from keras import ops

from keras_seqattn.checks import check_count, check_rate
from keras_seqattn.layers.composite import Composite
from keras_seqattn.layers.output_head import OutputHead
from keras_seqattn.layers.parts import checks
from keras_seqattn.layers.parts.nested_layers import serialize_part
from keras_seqattn.ops.mask import carry_mask, zero_padding


@keras.saving.register_keras_serializable(package="keras_seqattn")
class DeepOutputHead(Composite):
    """Logits from state, context and previous token through a maxout layer.

    The paper reads the state before the update: `BahdanauCell(...,
    readout="previous_state")`. `pieces=1, activation="tanh"` is the readout of Nematus.

    Args:
        vocabulary_size: number of tokens.
        units: size l of the maxout layer.
        pieces: how many linear pieces each maxout unit takes the maximum of.
        embedding: see `OutputHead`.
        kernel_initializer: for all products.
        activation: applied to t~_i, before the maximum; None: no activation, as in the
            paper.
        dropout: rate of the dropout on t_i, before the product with the vocabulary.
        seed: seed of the dropout.
        **kwargs: of `keras.layers.Layer`.

    Call arguments:
        outputs: `[batch, target, depth]`, the decoder's `[s_{i-1}; c_i]`.
        inputs: `[batch, target, embedding]`, the inputs of the decoder: E y_{i-1}.
        outputs_mask: `[batch, target]`, True = real; Keras passes that of `outputs`.
        training: whether dropout is on.

    Returns:
        logits `[batch, target, vocabulary]`.

    Equations:
        t~_i = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i  Bahdanau (A.2.2: t~_i)
        t_i[j] = max{t~_i[2j-1], t~_i[2j]}  Bahdanau (A.2.2: t_i)
        p(y_i | s_i, y_{i-1}, c_i) = softmax(W_o t_i): the logits are W_o t_i
            Bahdanau (A.2.2: p)
        t~_i and the logits have a bias besides.
        Sennrich et al. 2017: t_j = tanh(W_1 s_j + W_2 E y_{j-1} + W_3 c_j).

    Shapes:
        outputs: [batch, target, depth]
        inputs: [batch, target, embedding]
        logits: [batch, target, vocabulary]

    Example:
        >>> head = DeepOutputHead(10, units=6)
        >>> head(keras.ops.ones((2, 3, 8)), keras.ops.ones((2, 3, 4))).shape
        TensorShape([2, 3, 10])

    References:
        Bahdanau, Cho, Bengio 2015, arXiv:1409.0473.
        Goodfellow et al. 2013, arXiv:1302.4389 (maxout).
        Sennrich et al. 2017, arXiv:1703.04357 (Nematus).
    """

    parts = ("embedding",)
    reads = ("outputs", "inputs")  # a Seq2Seq passes the decoder's inputs, too

    def __init__(
        self,
        vocabulary_size,
        units,
        pieces=2,
        embedding=None,
        kernel_initializer="lecun_uniform",
        activation=None,
        dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        owner = type(self).__name__
        check_count(owner, "units", units)
        check_count(owner, "pieces", pieces)
        check_rate(owner, "dropout", dropout)
        self.vocabulary_size = vocabulary_size
        self.units, self.pieces = units, pieces
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.activation = keras.activations.get(activation)
        self.dropout, self.seed = dropout, seed
        width = units * pieces
        self.from_outputs = self.make_projection(width, "from_outputs")  # [U_o; C_o]
        self.from_inputs = self.make_projection(
            width, "from_inputs", use_bias=True
        )  # V_o
        self.head = OutputHead(
            vocabulary_size,
            embedding=embedding,
            kernel_initializer=self.kernel_initializer,
            dropout=dropout,
            seed=seed,
            dtype=self.dtype_policy,
            name="head",
        )

    @property
    def embedding(self):
        """The tied embedding, or None."""
        return self.head.embedding

    def build(self, outputs_shape, inputs_shape):
        self.from_outputs.build(outputs_shape)
        self.from_inputs.build(inputs_shape)
        self.head.build((*outputs_shape[:-1], self.units))

    def call(self, outputs, inputs, outputs_mask=None, training=None):
        owner = type(self).__name__
        checks.check_mask(owner, outputs_mask, "outputs", outputs.shape, "target")
        outputs = zero_padding(outputs, outputs_mask)
        inputs = zero_padding(inputs, outputs_mask)
        maxout = self.maxout(outputs, inputs)
        # W_o t_i, the product of `OutputHead.call`
        logits = self.head(maxout, training=training)  # Bahdanau (A.2.2: p)
        return carry_mask(logits, outputs_mask)

    def maxout(self, outputs, inputs):
        """Return t_i, `[batch, ..., units]`; with `pieces=1` there is no maximum."""
        of_outputs, of_inputs = self.from_outputs(outputs), self.from_inputs(inputs)
        pieces = self.activation(of_outputs + of_inputs)  # Bahdanau (A.2.2: t~_i)
        if self.pieces == 1:
            return pieces
        pieces = ops.reshape(pieces, (*ops.shape(pieces)[:-1], self.units, self.pieces))
        return ops.max(pieces, axis=-1)  # Bahdanau (A.2.2: t_i)

    def hidden(self, outputs, inputs, training=False):
        """The left factor of the last product, `[batch, ..., units]`."""
        return self.head.hidden(self.maxout(outputs, inputs), training)

    @property
    def last_product(self):
        """See `OutputHead.last_product`."""
        is_own = type(self).call is DeepOutputHead.call
        return self.head.last_product if is_own else None

    def compute_mask(self, outputs, previous_mask):
        return previous_mask

    def compute_output_shape(self, outputs_shape, inputs_shape):
        return self.head.compute_output_shape(outputs_shape)

    def get_config(self):
        embedding = self.embedding
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "units": self.units,
            "pieces": self.pieces,
            "embedding": None if embedding is None else serialize_part(embedding),
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "activation": keras.activations.serialize(self.activation),
            "dropout": self.dropout,
            "seed": self.seed,
        }
