"""Schedules of scheduled sampling: the probability of the model's own token."""

import math

import keras
from keras import ops

from keras_seqattn.errors import abbreviated, four_part_error


class SamplingProbability:
    """Base class of the schedules of scheduled sampling: a function of the step.

    In Bengio et al., eps_i is the probability of the *true* token at step i; it decays.
    Here a schedule returns 1 - eps_i, the probability of the model's own token; it
    grows. A schedule of your own defines `__call__(step)` and `get_config()`.
    """

    def __call__(self, step):
        """Return the probability of the model's own token, float32 in [0, 1]."""
        raise four_part_error(
            f"{type(self).__name__} does not say its probability",
            "a method __call__(step)",
            "a class without it",
            "Write one that returns a number in [0, 1]",
            kind=NotImplementedError,
        )

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


@keras.saving.register_keras_serializable(package="keras_seqattn")
class ConstantProbability(SamplingProbability):
    """The same probability at every step.

    Args:
        probability: of the model's own token, in [0, 1].

    Equations:
        eps_i = 1 - probability

    Example:
        >>> float(ConstantProbability(0.25)(1000))
        0.25
    """

    def __init__(self, probability):
        _check_probability("ConstantProbability", "probability", probability)
        self.probability = probability

    def __call__(self, step):
        return ops.convert_to_tensor(self.probability, "float32")

    def get_config(self):
        return {"probability": self.probability}


@keras.saving.register_keras_serializable(package="keras_seqattn")
class LinearProbability(SamplingProbability):
    """A probability that grows by the same amount at every step.

    Args:
        slope: growth per step, c.
        initial: probability at step 0, 1 - k.
        maximum: largest probability, 1 - eps.

    Equations:
        eps_i = max(eps, k - c i)

    Example:
        >>> round(float(LinearProbability(0.1)(5)), 4)
        0.5

    References:
        Bengio et al. 2015, arXiv:1506.03099.
    """

    def __init__(self, slope, initial=0.0, maximum=1.0):
        if isinstance(slope, bool) or not isinstance(slope, (int, float)) or slope <= 0:
            raise four_part_error(
                "LinearProbability got an unusable slope",
                "a positive number",
                f"slope={abbreviated(slope)}",
                "Use one over the number of steps in which the probability grows by 1",
            )
        _check_probability("LinearProbability", "initial", initial)
        _check_probability("LinearProbability", "maximum", maximum)
        self.slope, self.initial, self.maximum = slope, initial, maximum

    def __call__(self, step):
        grown = self.initial + self.slope * ops.cast(step, "float32")
        return ops.minimum(grown, self.maximum)

    def get_config(self):
        return {"slope": self.slope, "initial": self.initial, "maximum": self.maximum}


@keras.saving.register_keras_serializable(package="keras_seqattn")
class ExponentialProbability(SamplingProbability):
    """A probability that grows fast at first and then more slowly.

    Args:
        k: a number below 1; nearer to 1 it grows more slowly.

    Equations:
        eps_i = k^i

    Example:
        >>> round(float(ExponentialProbability(0.8)(5)), 4)
        0.6723

    References:
        Bengio et al. 2015, arXiv:1506.03099.
    """

    def __init__(self, k):
        if not 0 < k < 1:
            raise four_part_error(
                "ExponentialProbability got an unusable k",
                "a number in (0, 1)",
                f"k={abbreviated(k)}",
                "Use e.g. 0.9999: half of the tokens are the model's own after 7000 "
                "steps",
            )
        self.k = k

    def __call__(self, step):
        # 1 - k^i would lose its digits in float32 when k is near 1; expm1 does not.
        return -ops.expm1(ops.cast(step, "float32") * math.log(self.k))

    def get_config(self):
        return {"k": self.k}


@keras.saving.register_keras_serializable(package="keras_seqattn")
class InverseSigmoidProbability(SamplingProbability):
    """A probability that grows slowly, then fast, then slowly.

    It is one half at step k log k.

    Args:
        k: 1 or more; a larger k lets it grow later.

    Equations:
        eps_i = k / (k + exp(i / k))

    Example:
        >>> round(float(InverseSigmoidProbability(1)(5)), 4)
        0.9933

    References:
        Bengio et al. 2015, arXiv:1506.03099.
    """

    def __init__(self, k):
        if not k >= 1:
            raise four_part_error(
                "InverseSigmoidProbability got an unusable k",
                "1 or more",
                f"k={abbreviated(k)}",
                "Use e.g. 2000: half of the tokens are the model's own after 15000 "
                "steps",
            )
        self.k = k

    def __call__(self, step):
        # 1 - k / (k + e^(i / k)), written as a sigmoid, which does not overflow.
        return ops.sigmoid(ops.cast(step, "float32") / self.k - math.log(self.k))

    def get_config(self):
        return {"k": self.k}


def _check_probability(owner, name, probability):
    if not 0 <= probability <= 1:
        raise four_part_error(
            f"{owner} got an unusable {name}",
            "a number in [0, 1]",
            f"{name}={abbreviated(probability)}",
            "Use 0 for teacher forcing, 1 for the model's own tokens only",
        )
