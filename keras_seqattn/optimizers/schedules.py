"""Learning-rate schedules from papers."""

import keras
from keras import ops

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import abbreviated, four_part_error

# Schemes of tensorflow/nmt: share of the constant part, number of stretches after it.
_TENSORFLOW_NMT = {"luong5": (1 / 2, 5), "luong10": (1 / 2, 10), "luong234": (2 / 3, 4)}


@keras.saving.register_keras_serializable(package="keras_seqattn")
class HalvingDecay(keras.optimizers.schedules.LearningRateSchedule):
    """A constant learning rate that is halved at regular steps.

    Schedules of papers: `HalvingDecay.luong2015(...)`, `.gnmt2016()`,
    `.tensorflow_nmt(...)`, `.nvidia_gnmt(...)`.

    Args:
        initial_learning_rate: learning rate before the first halving.
        start: the first step with half of the initial learning rate.
        every: number of steps from one halving to the next.
        times: largest number of halvings; None: no limit.
        warmup: number of steps in which the rate rises exponentially from a hundredth
            of its value; 0: no warm-up.
        name: of the schedule.

    Call arguments:
        step: number of updates so far, `optimizer.iterations`.

    Returns:
        The learning rate, a float32 scalar.

    Equations:
        halvings_t = min(times, 1 + floor((t - start) / every)), 0 for t < start
        lr_t = lr_0 2^(-halvings_t) 0.01^(max(0, warmup - t) / warmup)

    Example:
        >>> schedule = HalvingDecay(1.0, start=500, every=100)
        >>> [float(schedule(step)) for step in (0, 499, 500, 600)]
        [1.0, 1.0, 0.5, 0.25]

    References:
        Luong, Pham, Manning 2015, arXiv:1508.04025, section 4.1.
        Wu et al. 2016, arXiv:1609.08144.
    """

    def __init__(
        self,
        initial_learning_rate,
        start,
        every,
        times=None,
        warmup=0,
        name="HalvingDecay",
    ):
        super().__init__()
        _check_learning_rate("HalvingDecay", initial_learning_rate)
        sizes = {"start": start, "every": every}
        sizes |= {} if times is None else {"times": times}
        sizes |= {} if warmup == 0 else {"warmup": warmup}
        for size in sizes:
            check_count("HalvingDecay", size, sizes[size])
        self.initial_learning_rate, self.name = initial_learning_rate, name
        self.start, self.every = start, every
        self.times, self.warmup = times, warmup

    def __call__(self, step):
        step = ops.cast(step, "int64")  # float32 cannot count beyond 2^24
        halvings = ops.maximum(1 + ops.floor_divide(step - self.start, self.every), 0)
        if self.times is not None:
            halvings = ops.minimum(halvings, self.times)
        rate = self.initial_learning_rate * ops.power(
            0.5, ops.cast(halvings, "float32")
        )
        if self.warmup:
            missing = ops.cast(ops.maximum(self.warmup - step, 0), "float32")
            rate = rate * ops.power(0.01, missing / self.warmup)
        return rate

    @classmethod
    def luong2015(cls, steps_per_epoch, dropout=False):
        """For SGD: 1.0, halved every epoch after epoch 5 of 10; with dropout 8 of 12.

        "we start with a learning rate of 1; after 5 epochs, we begin to halve the
        learning rate every epoch"; "For dropout models, we train for 12 epochs and
        start halving the learning rate after 8 epochs" (section 4.1).
        """
        check_count("HalvingDecay.luong2015", "steps_per_epoch", steps_per_epoch)
        return cls(1.0, (8 if dropout else 5) * steps_per_epoch, steps_per_epoch)

    @classmethod
    def gnmt2016(cls):
        """For SGD, after 60 000 steps of Adam at 2e-4: 0.5, halved from step 1.2 M on.

        The rate is halved every 200 000 steps, four times, as in summaries of Wu et
        al. Steps count from the start of SGD, without the 60 000 steps of Adam.
        """
        return cls(0.5, start=1_200_000, every=200_000, times=4)

    @classmethod
    def tensorflow_nmt(
        cls, scheme, training_steps, initial_learning_rate=1.0, warmup=0
    ):
        """A scheme of github.com/tensorflow/nmt, for a training of known length.

        Args:
            scheme: `"luong5"`, `"luong10"`: the rate is constant in the first half of
                the training; the second half has 5 or 10 stretches of equal length.
                `"luong234"`: constant in two thirds of the training, then 4 stretches.
                The first stretch is not halved yet.
            training_steps: number of steps of the whole training.
            initial_learning_rate: its SGD recipes use 1.0.
            warmup: number of steps of its "t2t" warm-up.
        """
        owner = "HalvingDecay.tensorflow_nmt"
        check_choice(owner, "scheme", scheme, _TENSORFLOW_NMT)
        check_count(owner, "training_steps", training_steps)
        share, stretches = _TENSORFLOW_NMT[scheme]
        constant = int(training_steps * share)
        every = max(1, (training_steps - constant) // stretches)
        return cls(initial_learning_rate, constant + every, every, warmup=warmup)

    @classmethod
    def nvidia_gnmt(cls, training_steps, initial_learning_rate):
        """The GNMT recipe of NVIDIA and MLPerf, for Adam.

        It has 200 steps of warm-up, is constant until 0.666 of the training, and then
        has four halvings at equal distances, the first one immediately.
        """
        owner = "HalvingDecay.nvidia_gnmt"
        check_count(owner, "training_steps", training_steps)
        start = max(1, int(training_steps * 0.666))
        every = max(1, (training_steps - start) // 4)
        warmup = min(200, start)
        return cls(initial_learning_rate, start, every, times=4, warmup=warmup)

    def get_config(self):
        names = ("initial_learning_rate", "start", "every", "times", "warmup", "name")
        return {name: getattr(self, name) for name in names}


@keras.saving.register_keras_serializable(package="keras_seqattn")
class RNMTPlusSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up to `replicas` times the rate, a constant rate, exponential decay.

    It is for Adam with synchronous replicas; with `replicas=1` there is no warm-up. The
    decay continues beyond `end`, where half of the initial rate is left.

    Args:
        replicas: n, the number of batches that are averaged in a step.
        start: s, the start of the decay, counted in batches (a step has n of them).
        end: e, where the decay reaches half of the initial rate, counted in batches.
        warmup: p, the warm-up takes n p steps.
        initial_learning_rate: learning rate of one replica.
        name: of the schedule.

    Call arguments:
        step: t, number of updates so far, `optimizer.iterations`.

    Returns:
        The learning rate, a float32 scalar.

    Equations:
        lr_t = 10^-4 min(1 + t (n - 1) / (n p), n, n (2n)^((s - n t) / (e - s)))

    Example:
        >>> schedule = RNMTPlusSchedule(replicas=4, start=8000, end=16000, warmup=100)
        >>> steps = (0, 200, 400, 2000, 4000)
        >>> [round(1e4 * float(schedule(step)), 3) for step in steps]
        [1.0, 2.5, 4.0, 4.0, 0.5]

    References:
        Chen et al. 2018, RNMT+, arXiv:1804.09849.
    """

    def __init__(
        self,
        replicas,
        start,
        end,
        warmup=500,
        initial_learning_rate=1e-4,
        name="RNMTPlusSchedule",
    ):
        super().__init__()
        owner = "RNMTPlusSchedule"
        _check_learning_rate(owner, initial_learning_rate)
        check_count(owner, "replicas", replicas)
        check_count(owner, "start", start)
        check_count(owner, "warmup", warmup)
        check_count(owner, "end", end)
        if end <= start:
            raise four_part_error(
                f"{owner} got an end that is not after its start",
                f"end > start = {start}",
                f"end={end}",
                "Count both in batches from the beginning of the training",
            )
        self.replicas, self.start, self.end = replicas, start, end
        self.warmup, self.name = warmup, name
        self.initial_learning_rate = initial_learning_rate

    def __call__(self, step):
        t, n = ops.cast(step, "float32"), float(self.replicas)
        rise = 1.0 + t * (n - 1.0) / (n * self.warmup)
        remaining = (self.start - n * t) / (self.end - self.start)
        fall = n * ops.power(2.0 * n, remaining)
        return self.initial_learning_rate * ops.minimum(ops.minimum(rise, n), fall)

    def get_config(self):
        names = ("replicas", "start", "end", "warmup", "initial_learning_rate", "name")
        return {name: getattr(self, name) for name in names}


@keras.saving.register_keras_serializable(package="keras_seqattn")
class InverseRootSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """A linear warm-up, then a decay with the inverse square root of the step.

    Args:
        initial_learning_rate: the greatest rate, at the end of the warm-up.
        warmup: number of steps of the warm-up.
        name: of the schedule.

    Call arguments:
        step: number of updates so far, `optimizer.iterations`.

    Returns:
        The learning rate, a float32 scalar.

    Equations:
        lr_t = lr min(t / warmup, sqrt(warmup / t)), for t = step + 1

    Example:
        >>> schedule = InverseRootSchedule(0.1, warmup=4)
        >>> [round(float(schedule(step)), 3) for step in (0, 1, 3, 15)]
        [0.025, 0.05, 0.1, 0.05]

    References:
        Vaswani et al. 2017, arXiv:1706.03762.
    """

    def __init__(self, initial_learning_rate, warmup, name="InverseRootSchedule"):
        super().__init__()
        _check_learning_rate("InverseRootSchedule", initial_learning_rate)
        check_count("InverseRootSchedule", "warmup", warmup)
        self.initial_learning_rate = initial_learning_rate
        self.warmup, self.name = warmup, name

    @classmethod
    def vaswani2017(cls, units, warmup=4000):
        """For Adam: (3), "We used warmup_steps = 4000"; `units` is d_model."""
        return cls(units**-0.5 * warmup**-0.5, warmup)

    def __call__(self, step):
        t = ops.cast(step, "float32") + 1.0
        rise, fall = t / self.warmup, ops.sqrt(self.warmup / t)
        return self.initial_learning_rate * ops.minimum(rise, fall)

    def get_config(self):
        names = ("initial_learning_rate", "warmup", "name")
        return {name: getattr(self, name) for name in names}


def _check_learning_rate(owner, rate):
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not rate > 0:
        raise four_part_error(
            f"{owner} got an unusable initial_learning_rate",
            "a positive number",
            abbreviated(rate),
            "Pass e.g. 1.0 for SGD, 0.001 for Adam",
        )
