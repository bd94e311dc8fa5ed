"""Cross-entropy with label smoothing."""

import keras

from keras_seqattn.checks import check_rate
from keras_seqattn.ops.cross_entropy import as_logits, cross_entropy


@keras.saving.register_keras_serializable(package="keras_seqattn")
class SmoothedCrossentropy(keras.losses.Loss):
    """Cross-entropy of token ids with label smoothing, without one-hot labels.

    Without smoothing it equals `keras.losses.SparseCategoricalCrossentropy`. With it,
    it equals `keras.losses.CategoricalCrossentropy(label_smoothing=...)` of one-hot
    labels. The Keras mask of the logits, which our heads attach, and sample weights
    have the same effect as in Keras: padding adds nothing, and the mean is over the
    real tokens.

    The smoothed share of the probability goes to all V tokens, eps / V each, the right
    token included: this is Keras's convention. OpenNMT gives it to the other tokens
    only, eps / (V - 1) each.

    Args:
        label_smoothing: eps, in [0, 1).
        from_logits: whether predictions are logits; False: probabilities.
        reduction: of `keras.losses.Loss`.
        name: of the loss.
        dtype: dtype to compute in, float32 at least (half precision would round even
            the token ids). None: `keras.config.floatx()`.

    Call arguments:
        y_true: token ids `[batch, target]`.
        y_pred: logits `[batch, target, vocabulary]`.
        sample_weight: `[batch, target]`, or None.

    Returns:
        The loss, a scalar; `[batch, target]` with `reduction=None`.

    Equations:
        q_v = (1 - eps) [v = y] + eps / V
        loss = - sum{q_v log p_v : v}
             = (1 - eps) (- log p_y) + eps (log sum{exp z_v : v} - mean{z_v : v})

    Example:
        >>> loss = SmoothedCrossentropy(label_smoothing=0.1)
        >>> logits = np.array([[100.0, -100.0, -100.0]])
        >>> print(f"{float(loss(np.array([0]), logits)):.4f}")
        13.3333

    References:
        Szegedy et al. 2016, arXiv:1512.00567.
    """

    def __init__(
        self,
        label_smoothing=0.1,
        from_logits=True,
        reduction="sum_over_batch_size",
        name="smoothed_crossentropy",
        dtype=None,
    ):
        policy = keras.dtype_policies.get(dtype or keras.config.floatx())
        dtype = keras.backend.result_type(policy.compute_dtype, "float32")
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        check_rate(type(self).__name__, "label_smoothing", label_smoothing)
        self.label_smoothing, self.from_logits = label_smoothing, from_logits

    def call(self, y_true, y_pred):
        logits = as_logits(y_pred, self.from_logits)
        return cross_entropy(y_true, logits, self.label_smoothing)

    def get_config(self):
        return {
            **super().get_config(),
            "label_smoothing": self.label_smoothing,
            "from_logits": self.from_logits,
            "dtype": self.dtype,
        }
