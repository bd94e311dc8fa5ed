"""The weights that `fit` would leave in a model, during training."""

import contextlib


@contextlib.contextmanager
def final_weights(model):
    """Give a model, inside a `with`, the weights that it would have after `fit`.

    These are the moving averages if its optimizer has `use_ema=True`: `fit` puts them
    into the model at its end. Other optimizers leave the weights as they are. After
    the `with`, the model has the same weights as before, bit for bit.

    `keras.callbacks.SwapEMAWeights` is not used for two reasons. It swaps by adding and
    subtracting, which rounds. And when a training stops early, it leaves the last
    weights in the model instead of the averages.
    """
    optimizer = model.optimizer
    if int(optimizer.iterations.numpy()) == 0:  # the averages are still zeros
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
