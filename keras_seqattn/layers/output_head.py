"""From the outputs of a decoder to logits, for all steps at once."""

import keras
from keras import ops

from keras_seqattn.checks import check_count, check_rate
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.composite import Composite
from keras_seqattn.layers.parts import checks
from keras_seqattn.layers.parts.nested_layers import serialize_part
from keras_seqattn.ops.logits import carry_readout
from keras_seqattn.ops.mask import zero_padding
from keras_seqattn.types import Columns, Readout


@keras.saving.register_keras_serializable(package="keras_seqattn")
class OutputHead(Composite):
    """Logits over the vocabulary, one product for the whole target.

    Call it on the outputs of an `AttentionDecoder`: the logits carry the target's mask,
    so that stock Keras losses and metrics skip the padding.

    Args:
        vocabulary_size: number of tokens.
        embedding: a `keras.layers.ReversibleEmbedding` whose matrix is used backwards
            ("tied"); outputs of another depth are projected to it first. None: a matrix
            of the head. Saving keeps the tie, `keras.models.clone_model` does not.
        use_bias: whether every token has a bias; Luong et al.'s (6) has none.
        kernel_initializer: for the matrix and the projection.
        dropout: rate of the dropout on the outputs, before any product.
        seed: seed of the dropout.
        **kwargs: of `keras.layers.Layer`.

    Call arguments:
        outputs: `[batch, target, depth]`, or `[batch, ..., depth]` for single steps.
        mask: `[batch, target]`, True = real; Keras passes that of `outputs`.
        training: whether dropout is on.

    Returns:
        logits `[batch, target, vocabulary]`.

    Equations:
        p(y_t | y_{<t}, x) = softmax(W_s h~_t): the logits are W_s h~_t  Luong (6)

    Shapes:
        outputs: [batch, target, depth]
        logits: [batch, target, vocabulary]

    Example:
        >>> embedding = keras.layers.ReversibleEmbedding(10, 4)
        >>> OutputHead(10, embedding=embedding)(keras.ops.ones((2, 3, 8))).shape
        TensorShape([2, 3, 10])

    References:
        Luong, Pham, Manning 2015, arXiv:1508.04025.
        Press, Wolf 2017, arXiv:1608.05859 (tying).
    """

    parts = ("embedding",)

    def __init__(
        self,
        vocabulary_size,
        embedding=None,
        use_bias=True,
        kernel_initializer="lecun_uniform",
        dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        owner = type(self).__name__
        check_count(owner, "vocabulary_size", vocabulary_size)
        check_rate(owner, "dropout", dropout)
        if embedding is not None:
            _check_embedding(owner, embedding, vocabulary_size)
        self.vocabulary_size, self.embedding = vocabulary_size, embedding
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.dropout, self.seed = dropout, seed
        self.output_dropout = keras.layers.Dropout(
            dropout, seed=seed, dtype=self.dtype_policy
        )
        self.to_embedding = self.projection = self.bias = None

    def build(self, outputs_shape):
        if self.embedding is None:
            self.projection = self.make_projection(self.vocabulary_size, "projection")
            self.projection.build(outputs_shape)
        else:
            if not self.embedding.built:
                self.embedding.build()
            if outputs_shape[-1] != self.embedding.output_dim:
                width = self.embedding.output_dim
                self.to_embedding = self.make_projection(width, "to_embedding")
                self.to_embedding.build(outputs_shape)
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias", shape=(self.vocabulary_size,), initializer="zeros"
            )

    def call(self, outputs, mask=None, training=None):
        owner = type(self).__name__
        checks.check_mask(owner, mask, "outputs", outputs.shape, "target", "mask")
        outputs = zero_padding(outputs, mask)
        hidden = self.hidden(outputs, training)
        if self.embedding is None:
            # W_s h~_t, or Bahdanau's W_o t_i for a `DeepOutputHead`
            logits = self.projection(hidden)  # Luong (6)
        else:
            logits = self.embedding(hidden, reverse=True)  # in the embedding's dtype
            logits = ops.cast(logits, self.compute_dtype)
        if self.bias is not None:
            logits = logits + self.bias
        return carry_readout(logits, self._product.readout(hidden, training))

    def hidden(self, outputs, training=False):
        """The left factor of the last product, `[batch, ..., depth]`."""
        outputs = self.output_dropout(outputs, training=training)
        return outputs if self.to_embedding is None else self.to_embedding(outputs)

    @property
    def last_product(self):
        """`LastProduct` of `hidden`, for the loss and the search.

        None for a subclass that overrides `call`: its logits may be others.
        """
        return self._product if type(self).call is OutputHead.call else None

    @property
    def _product(self):
        layer = self.projection if self.embedding is None else self.embedding
        return LastProduct(layer, self.bias, self.compute_dtype)

    def compute_mask(self, outputs, previous_mask):
        return previous_mask

    def compute_output_shape(self, outputs_shape):
        return (*outputs_shape[:-1], self.vocabulary_size)

    def get_config(self):
        embedding = self.embedding
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "embedding": None if embedding is None else serialize_part(embedding),
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "dropout": self.dropout,
            "seed": self.seed,
        }


class LastProduct:
    """The product with the vocabulary at the end of a head.

    A loss reads its factors. A search gathers columns of the kernel once for many
    steps, for all tokens or for those of a shortlist, and multiplies by them.

    Not a layer: it owns no weights.

    Args:
        layer: the `Dense` or the `ReversibleEmbedding` that multiplies.
        bias: its weight `[vocabulary]`, or None.
        dtype: of the logits.
    """

    def __init__(self, layer, bias, dtype):
        self.layer, self.bias, self.dtype = layer, bias, dtype

    def readout(self, hidden, training):
        """Return the `Readout` for the loss; None if the product is not a plain one.

        Args:
            hidden: `[batch, ..., depth]`.
            training: whether gradients will be computed.
        """
        if not self._is_plain:
            return None
        kernel, is_transposed = self._kernel
        if self._is_embedding:
            dtype = keras.backend.result_type(hidden.dtype, kernel.dtype)
            hidden = ops.cast(hidden, dtype)  # as the embedding multiplies
        return Readout(hidden, kernel, self.bias, is_transposed, bool(training))

    def precompute(self):
        """Return the `Columns` of all tokens if they make many steps faster, else None.

        An embedding has a row for each token. A product of few rows with its transpose
        takes up to four times as long, so it is transposed once.
        """
        is_tied = self._is_plain and self._kernel[1]
        return self._columns() if is_tied else None

    def columns(self, ids):
        """Return the `Columns` of some tokens.

        Args:
            ids: int `[size]`.
        """
        if not self._is_plain:
            raise four_part_error(
                "OutputHead cannot be cut down to some tokens",
                "a last product of plain weights",
                "weights that are quantised or adapted, or an embedding with "
                "logit_soft_cap or reverse_dtype",
                "Drop the shortlist: all tokens have logits",
            )
        return self._columns(ids)

    def logits(self, hidden, columns):
        """Return the logits `[batch, ..., size]` of the tokens of these columns.

        Args:
            hidden: `[batch, ..., depth]`.
            columns: of `columns` or of `precompute`.
        """
        hidden = ops.cast(hidden, columns.kernel.dtype)
        logits = ops.cast(ops.matmul(hidden, columns.kernel), self.dtype)
        if self.bias is None:
            return logits
        return logits + ops.cast(columns.bias, self.dtype)

    def _columns(self, ids=None):
        kernel, is_transposed = self._kernel
        bias = () if self.bias is None else ops.convert_to_tensor(self.bias)
        if ids is not None:
            kernel = ops.take(kernel, ids, axis=0 if is_transposed else 1)
            bias = () if self.bias is None else ops.take(bias, ids)
        kernel = ops.transpose(kernel) if is_transposed else kernel
        return Columns(ops.cast(kernel, self.layer.compute_dtype), bias)

    @property
    def _is_embedding(self):
        return isinstance(self.layer, keras.layers.ReversibleEmbedding)

    @property
    def _is_plain(self):
        """Whether the layer multiplies by its weights, and does nothing else."""
        changes = [self.layer.quantization_mode, self.layer.lora_enabled]
        if self._is_embedding:
            changes += [self.layer.logit_soft_cap, self.layer.reverse_dtype]
        return not any(changes)

    @property
    def _kernel(self):
        """The weight, and whether it is `[vocabulary, depth]`."""
        if not self._is_embedding:
            return self.layer.kernel, False
        if self.layer.tie_weights:
            return self.layer.embeddings, True
        return self.layer.reverse_embeddings, False


def _check_embedding(owner, embedding, vocabulary_size):
    if not isinstance(embedding, keras.layers.ReversibleEmbedding):
        raise four_part_error(
            f"{owner} got an embedding that cannot run backwards",
            "a keras.layers.ReversibleEmbedding",
            abbreviated(embedding),
            "Use that layer for the target embedding, too: it is an Embedding "
            "otherwise",
        )
    if embedding.input_dim != vocabulary_size:
        raise four_part_error(
            f"{owner} got an embedding of another vocabulary",
            f"input_dim = vocabulary_size = {vocabulary_size}",
            embedding.input_dim,
            "Tie the head to the embedding of the target language",
        )
