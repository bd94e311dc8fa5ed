"""Keras's `training` argument, where a step verb may not have been told."""


def given(training):
    """The keyword for a sublayer: none where nobody has said whether it trains.

    Keras then takes what the layers around were told. It would take `training=None` for
    an answer: no, and for all that the layer around calls afterwards, too.
    """
    return {} if training is None else {"training": training}
