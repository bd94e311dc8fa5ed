"""Labels and weights of tokens, in the shapes in which Keras passes them."""

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
