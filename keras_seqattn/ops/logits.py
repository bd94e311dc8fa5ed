"""Logits as losses and metrics read them: with labels, weights, and what they carry.

Logits carry objects besides their numbers, as tensors of Keras carry their masks. A
loss that reads the `Readout` does not read the logits. TensorFlow prunes logits that
are never read. A layer that computes other logits from these returns a new tensor,
which has no `Readout`.
"""

from keras import ops


def token_ids(y_true, y_pred):
    """Labels `[batch, target]` for predictions `[batch, target, vocabulary]`."""
    y_true = ops.convert_to_tensor(y_true)
    if len(y_true.shape) == len(y_pred.shape):
        return ops.squeeze(y_true, axis=-1)  # Keras gives single labels an axis
    return y_true


def like(values, factor):
    """A mask or weights with the rank and the dtype of the values."""
    factor = ops.cast(factor, values.dtype)
    if len(factor.shape) > len(values.shape):
        return ops.squeeze(factor, axis=-1)
    missing = len(values.shape) - len(factor.shape)
    return ops.reshape(factor, (*ops.shape(factor), *[1] * missing))


def carry_readout(logits, readout):
    """Attach the factors of the logits, a `Readout`; None: they are not known."""
    logits._readout = readout
    return logits


def readout_of(logits):
    """Return the `Readout` of the logits, or None."""
    return getattr(logits, "_readout", None)


def carry_token_losses(logits, labels, token_losses):
    """Attach what a loss has computed, so that metrics can read it."""
    logits._token_losses = (labels, token_losses)


def token_losses_of(logits, labels):
    """Return the `TokenLosses` of exactly these labels, or None."""
    known, token_losses = getattr(logits, "_token_losses", (None, None))
    return token_losses if known is labels else None
