"""A maximum length of hypotheses that depends on the source."""

import dataclasses

import tensorflow as tf

from keras_seqattn.checks import check_count, check_number
from keras_seqattn.decoding.search import register
from keras_seqattn.errors import abbreviated, four_part_error


@register
@dataclasses.dataclass(frozen=True)
class RelativeLength:
    """A maximum length that depends on the source: `times * |X| + plus`, rounded up.

    |X| is the number of source tokens that are not padding, special tokens included.

    Args:
        times: tokens for each source token.
        plus: tokens added to these.
        at_most: upper bound for all sources; None: no bound.

    Example:
        >>> RelativeLength(1.5, plus=10)
        RelativeLength(times=1.5, plus=10, at_most=None)
    """

    times: float = 2.0
    plus: int = 10
    at_most: int | None = None

    def __post_init__(self):
        check_number("RelativeLength", "times", self.times)
        check_count("RelativeLength", "plus", self.plus, 0)
        if self.at_most is not None:
            check_count("RelativeLength", "at_most", self.at_most, 1)
        if self.times < 0 or self.times + self.plus <= 0:
            raise four_part_error(
                "RelativeLength got numbers that allow no token",
                "times >= 0 and plus >= 0, not both 0",
                f"times={abbreviated(self.times)}, plus={abbreviated(self.plus)}",
                "Use e.g. times=2.0: twice the source is a usual limit",
            )

    def limits(self, source, pad):
        """Return int32 `[batch]` for source ids `[batch, source]`."""
        return self.of_sizes(tf.reduce_sum(tf.cast(source != pad, tf.int32), axis=1))

    def of_sizes(self, sizes):
        """Return int32 `[batch]` for sources with these numbers of tokens."""
        sizes = tf.cast(sizes, tf.float64)
        product = self.times * sizes - 1e-9  # in binary, 0.3 * 50 is more than 15
        limits = tf.cast(tf.math.ceil(product), tf.int32) + self.plus
        limits = tf.maximum(limits, 1)
        return limits if self.at_most is None else tf.minimum(limits, self.at_most)

    def get_config(self):
        return dataclasses.asdict(self)

    @classmethod
    def from_config(cls, config):
        return cls(**config)
