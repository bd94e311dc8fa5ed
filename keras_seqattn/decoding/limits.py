"""How long a hypothesis may get."""

import dataclasses

import tensorflow as tf

from keras_seqattn.decoding.search import register


@register
@dataclasses.dataclass(frozen=True)
class RelativeLength:
    """A maximum length that depends on the source: `times * |X| + plus`.

    |X| is the number of source tokens that are not padding, special tokens included.

    Args:
        times: factor.
        plus: tokens besides.
        at_most: bound whatever the source, or None.

    Example:
        >>> RelativeLength(1.5, plus=10)
        RelativeLength(times=1.5, plus=10, at_most=None)
    """

    times: float = 2.0
    plus: int = 10
    at_most: int | None = None

    def __post_init__(self):
        bound = 1 if self.at_most is None else self.at_most
        if self.times < 0 or self.plus < 0 or self.times + self.plus <= 0 or bound < 1:
            raise ValueError(
                "RelativeLength got numbers that allow no token. Expected times >= 0, "
                "plus >= 0, not both 0, and at_most >= 1 or None, received "
                f"times={self.times!r}, plus={self.plus!r}, at_most={self.at_most!r}. "
                "Use e.g. times=2.0: twice the source is a usual limit."
            )

    def limits(self, source, pad):
        """int32 `[batch]` for the ids `[batch, source]`."""
        size = tf.reduce_sum(tf.cast(source != pad, tf.float32), axis=1)
        limits = tf.cast(tf.math.ceil(self.times * size), tf.int32) + self.plus
        limits = tf.maximum(limits, 1)
        return limits if self.at_most is None else tf.minimum(limits, self.at_most)

    def get_config(self):
        return dataclasses.asdict(self)

    @classmethod
    def from_config(cls, config):
        return cls(**config)
