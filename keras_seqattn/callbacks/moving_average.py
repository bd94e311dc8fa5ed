"""The weights that a training will leave behind, before it is over."""

import contextlib


@contextlib.contextmanager
def final_weights(model):
    """Inside, a model in training has the weights that it would have after `fit`.

    Those are the moving averages if its optimizer has `use_ema=True`: `fit` puts them
    into the model at its end. Other optimizers leave the weights as they are.
    Afterwards the weights are again, bit for bit, what they were.

    `keras.callbacks.SwapEMAWeights` is not used: it swaps by adding and subtracting,
    which rounds, and when a training stops early, it leaves the last weights behind
    instead of the averages.
    """
    optimizer = model.optimizer
    if (
        int(optimizer.iterations.numpy()) == 0
    ):  # nothing averaged yet: the averages are zeros
        yield
        return
    weights = model.trainable_variables
    last = [variable.numpy() for variable in weights]
    try:
        optimizer.finalize_variable_values(weights)
        yield
    finally:
        for variable, value in zip(weights, last, strict=True):
            variable.assign(value)
