"""Keras's `training` argument, where the caller of a step verb may have left it out."""


def training_kwargs(training):
    """The keyword arguments for a sublayer: none where `training` is None.

    Keras then uses the value that the layers around were called with. Passing None
    would mean False, and would also override later calls of sublayers.
    """
    return {} if training is None else {"training": training}
