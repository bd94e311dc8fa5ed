"""Cross-entropy of tokens without the logits tensor of the whole batch."""

import keras
from keras import ops

from keras_seqattn.losses.smoothed_crossentropy import SmoothedCrossentropy
from keras_seqattn.ops.fast.cross_entropy import output_cross_entropy
from keras_seqattn.ops.logits import carry_token_losses, like, readout_of, token_ids


@keras.saving.register_keras_serializable(package="keras_seqattn")
class FusedCrossentropy(SmoothedCrossentropy):
    """`SmoothedCrossentropy` that never needs the full logits tensor.

    `Seq2Seq.compile(loss="auto")` means `loss=FusedCrossentropy()`. The logits of an
    `OutputHead` or a `DeepOutputHead` carry the inputs of their last product. The loss
    computes logits for non-padding tokens only, in chunks of some hundred tokens, and
    their gradient in the same chunk. So in `fit` and `evaluate` the full logits tensor
    never exists, unless a metric other than `TokenAccuracy` and `Perplexity` reads it.
    With `run_eagerly=True` the logits are computed, though the loss does not need them.

    Other predictions do not carry these inputs: scaled logits, or logits of a custom or
    a quantised head. For them it equals `SmoothedCrossentropy`. In both cases the loss
    is the mean over the real tokens.

    Args:
        label_smoothing: eps, in [0, 1).
        name: of the loss.
        dtype: see `SmoothedCrossentropy`.

    Call arguments:
        y_true: token ids `[batch, target]`.
        y_pred: logits `[batch, target, vocabulary]`.
        sample_weight: `[batch, target]` or `[batch]`, or None.

    Returns:
        The loss, a scalar.

    Equations:
        z = h W + b
        loss = sum{w_t (- sum{q_tv log softmax(z_t)_v : v}) : t real} / sum{1 : t real}

    Example:
        >>> head = OutputHead(10)
        >>> logits = head(keras.ops.ones((2, 3, 8)))
        >>> labels = np.array([[1, 2, 3], [4, 5, 6]])
        >>> fused = FusedCrossentropy(0.1)(labels, logits)
        >>> bool(abs(fused - SmoothedCrossentropy(0.1)(labels, logits)) < 1e-5)
        True

    References:
        Wijmans et al. 2024, arXiv:2411.09009 (Cut Cross-Entropy).
    """

    def __init__(self, label_smoothing=0.0, name="fused_crossentropy", dtype=None):
        super().__init__(label_smoothing, name=name, dtype=dtype)

    def __call__(self, y_true, y_pred, sample_weight=None):
        if readout_of(y_pred) is None or len(y_pred.shape) != 3:
            return super().__call__(y_true, y_pred, sample_weight)
        return self._loss_of_readout(y_true, y_pred, sample_weight)

    def _loss_of_readout(self, y_true, y_pred, sample_weight=None):
        mask = getattr(y_pred, "_keras_mask", None)
        labels = token_ids(y_true, y_pred)
        count = ops.cast(ops.size(labels), self.dtype)
        if mask is not None:
            count = ops.sum(ops.cast(mask, self.dtype))
        if sample_weight is not None:
            ones = ops.ones_like(labels, dtype=self.dtype)
            sample_weight = ones * like(ones, sample_weight)
        token_losses = output_cross_entropy(
            readout_of(y_pred), labels, mask, sample_weight, self.label_smoothing
        )
        carry_token_losses(y_pred, y_true, token_losses)
        mean = ops.divide_no_nan(ops.cast(token_losses.total, self.dtype), count)
        return _ComputedLoss(self.name, dtype=self.dtype)(mean[None], mean[None])

    def get_config(self):
        return {
            "label_smoothing": self.label_smoothing,
            "name": self.name,
            "dtype": self.dtype,
        }


class _ComputedLoss(keras.losses.Loss):
    """A loss that is already computed; Keras scales it for several replicas."""

    def call(self, y_true, y_pred):
        return y_pred
