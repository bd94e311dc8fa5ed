"""Keras metrics that average over tokens, not over batches."""

import keras
from keras import ops

from keras_seqattn.errors import four_part_error
from keras_seqattn.ops.cross_entropy import as_logits, cross_entropy
from keras_seqattn.ops.logits import like, token_ids, token_losses_of
from keras_seqattn.ops.precision import at_least_float32


class TokenMean(keras.metrics.Metric):
    """Base: a mean over all real tokens since the last reset.

    Keras's own metrics first average over the target axis. So a token in a batch of
    long sentences counts less than a token in a batch of short ones. Here every token
    counts the same.

    A subclass defines `measure(y_true, y_pred)`, which returns one value per token
    `[batch, target]`. It can also define `read(token_losses)`, which takes these values
    from a loss that does not compute all logits.
    """

    def __init__(self, name, dtype=None):
        super().__init__(name=name, dtype=dtype)
        # float64: in float32 a count stops at 2^24 tokens.
        self.total = self.add_variable((), "zeros", "float64", name="total")
        self.count = self.add_variable((), "zeros", "float64", name="count")

    def update_state(self, y_true, y_pred, sample_weight=None):
        mask = getattr(y_pred, "_keras_mask", None)
        token_losses = token_losses_of(y_pred, y_true)
        values = None if token_losses is None else self.read(token_losses)
        if values is None:
            y_pred = ops.convert_to_tensor(y_pred)
            values = self.measure(token_ids(y_true, y_pred), y_pred)
        values = at_least_float32(values)
        weights = ops.ones_like(values)
        for factor in (mask, sample_weight):
            if factor is not None:
                weights = weights * like(values, factor)
        # Padding may hold NaN, which a product with 0 would keep.
        values = ops.where(weights == 0, 0.0, values * weights)
        self.total.assign_add(ops.sum(ops.cast(values, "float64")))
        self.count.assign_add(ops.sum(ops.cast(weights, "float64")))

    def measure(self, y_true, y_pred):
        """Return one value per token, `[batch, target]`."""
        raise four_part_error(
            f"{type(self).__name__} does not define what it measures",
            "a method measure(y_true, y_pred)",
            "a class without it",
            "Write a method that returns [batch, target]",
            kind=NotImplementedError,
        )

    def read(self, token_losses):
        """Return the same values from those of `FusedCrossentropy`, or None."""
        return None

    def mean(self):
        """Return the mean of the values in float64; 0 without tokens."""
        return ops.divide_no_nan(self.total, self.count)

    def result(self):
        return self._readable(self.mean())

    def _readable(self, x):
        return ops.cast(x, keras.backend.result_type(self.dtype, "float32"))


@keras.saving.register_keras_serializable(package="keras_seqattn")
class TokenAccuracy(TokenMean):
    """Share of the real tokens to which the model gives the largest probability.

    Pass it to `compile(weighted_metrics=[...])`. It also works in `metrics=[...]`, but
    there Keras does not pass sample weights. The mask of the logits, which our models
    attach, is used in both.

    Args:
        name: of the metric.
        dtype: of the result, float32 at least. None: `keras.config.floatx()`.

    Call arguments:
        y_true: token ids `[batch, target]`.
        y_pred: logits or probabilities `[batch, target, vocabulary]`.
        sample_weight: `[batch, target]` or `[batch]`, or None.

    Equations:
        accuracy = sum{w_t [y_t = argmax_v z_tv] : t} / sum{w_t : t}

    Example:
        >>> metric = TokenAccuracy()
        >>> logits = np.array([[[0.0, 5.0], [0.0, 5.0]]])
        >>> metric.update_state(np.array([[1, 0]]), logits)
        >>> float(metric.result())
        0.5
    """

    _direction = "up"  # which way is better, for `mode="auto"` of callbacks

    def __init__(self, name="token_accuracy", dtype=None):
        super().__init__(name, dtype)

    def measure(self, y_true, y_pred):
        predicted = ops.argmax(y_pred, axis=-1)
        return ops.equal(ops.cast(y_true, predicted.dtype), predicted)

    def read(self, token_losses):
        return token_losses.correct


@keras.saving.register_keras_serializable(package="keras_seqattn")
class Perplexity(TokenMean):
    """Perplexity: the exponential of the mean cross-entropy of the real tokens.

    It is the number of equally probable tokens with the same cross-entropy. Label
    smoothing of the loss does not change it. Pass it to
    `compile(weighted_metrics=[...])`. It also works in `metrics=[...]`, but there Keras
    does not pass sample weights. The mask of the logits, which our models attach, is
    used in both.

    Args:
        from_logits: whether predictions are logits; False: probabilities.
        name: of the metric.
        dtype: of the result, float32 at least. None: `keras.config.floatx()`.

    Call arguments:
        y_true: token ids `[batch, target]`.
        y_pred: logits `[batch, target, vocabulary]`.
        sample_weight: `[batch, target]` or `[batch]`, or None.

    Equations:
        perplexity = exp(- sum{w_t log p(y_t) : t} / sum{w_t : t})

    Example:
        >>> metric = Perplexity()
        >>> metric.update_state(np.array([[2, 7]]), np.zeros((1, 2, 10)))
        >>> print(f"{float(metric.result()):.4f}")
        10.0000
    """

    _direction = "down"

    def __init__(self, from_logits=True, name="perplexity", dtype=None):
        super().__init__(name, dtype)
        self.from_logits = from_logits

    def measure(self, y_true, y_pred):
        return cross_entropy(y_true, as_logits(y_pred, self.from_logits))

    def read(self, token_losses):
        return token_losses.negative_log_likelihood

    def result(self):
        return self._readable(ops.exp(self.mean()))

    def get_config(self):
        return {**super().get_config(), "from_logits": self.from_logits}
