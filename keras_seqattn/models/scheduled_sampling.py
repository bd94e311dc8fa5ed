"""Scheduled sampling: training on some of the model's own tokens."""

import keras
from keras import ops

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.parts.nested_layers import deserialize_part
from keras_seqattn.models.fit_arguments import logits_part
from keras_seqattn.models.sampling_probability import SamplingProbability
from keras_seqattn.models.token_model import TokenModel
from keras_seqattn.ops.precision import at_least_float32


@keras.saving.register_keras_serializable(package="keras_seqattn")
class ScheduledSampling(TokenModel):
    """Trains a model with some of its own tokens in place of true target inputs.

    Compile and fit it in place of the model. It trains the model itself, so decode,
    evaluate and save `scheduled.model` afterwards. Without `training=True` it computes
    the same as the model.

    A training step has two forward passes. The first is teacher-forced, without
    gradient and dropout; it yields the model's own token at each position. Then some of
    the true target inputs are replaced by these tokens, each with the probability of
    the current step (`optimizer.iterations`). The second pass, over the mixed inputs,
    computes the logits of the loss. The start token and padding are never replaced, and
    no token is replaced by padding.

    Bengio et al. draw token by token in one pass, so that each drawn token depends on
    the tokens drawn before. Two passes are an approximation (by Mihaylova, Martins 2019
    for Transformers): each drawn token depends on the true tokens before it. Both
    passes are parallel over the target, with no loop through the head, and work with
    every decoder.

    Args:
        model: a `keras.Model`, e.g. a `Seq2Seq`. A call on `{"source": ids, "target":
            ids}` with `training=...` returns logits `[batch, target, vocabulary]`.
        probability: a `SamplingProbability`, e.g. `InverseSigmoidProbability(2000)`.
        use_argmax: whether the most probable token replaces the true one. False: a
            token drawn from the model's distribution.
        pad: id of the padding of the target. None: `model.pad` if the model has it,
            else 0.
        seed: seed of the random draws.
        **kwargs: of `keras.Model`.

    Call arguments:
        inputs: the inputs of the model; the target begins with the start token.
        training: whether some tokens are replaced.

    Returns:
        what the model returns: logits `[batch, target, vocabulary]` with their mask.

    Equations:
        y'_t ~ p(. | y_1 .. y_{t-1}, x)   (first pass)
        y~_t = y_t with probability eps_i, else y'_t
        loss = - sum{log p(y_t | y~_1 .. y~_{t-1}, x) : t}   (second pass)

    Shapes:
        target: [batch, target]
        logits: [batch, target, vocabulary]

    Example:
        >>> model = Seq2Seq(
        ...     keras.layers.Embedding(9, 4),
        ...     BiEncoder(8),
        ...     AttentionDecoder(BahdanauCell(8, BahdanauAttention(8))),
        ...     OutputHead(9),
        ... )
        >>> scheduled = ScheduledSampling(model, LinearProbability(1e-4))
        >>> scheduled.compile("adam", SmoothedCrossentropy())
        >>> ids = np.array([[1, 7, 5, 0]])
        >>> scheduled({"source": ids, "target": ids}, training=True).shape
        TensorShape([1, 4, 9])

    References:
        Bengio et al. 2015, arXiv:1506.03099.
        Mihaylova, Martins 2019, arXiv:1906.07651.
    """

    def __init__(
        self, model, probability, use_argmax=False, pad=None, seed=None, **kwargs
    ):
        super().__init__(**kwargs)
        _check_parts(model, probability)
        self.model, self.probability = model, probability
        self.use_argmax, self.seed = use_argmax, seed
        self.pad = getattr(model, "pad", 0) if pad is None else pad
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.built = model.built

    @property
    def vocabularies(self):
        """Those of the model; without them, nothing is known of the ids."""
        unknown = {"target": None, "labels": None}
        return getattr(self.model, "vocabularies", unknown)

    def check_masks(self, inputs):
        if hasattr(self.model, "check_masks"):
            self.model.check_masks(inputs)

    @property
    def source_pad(self):
        """The id of the padding of the source, as the model knows it."""
        return getattr(self.model, "source_pad", self.pad)

    @property
    def named_outputs(self):
        """The names of the outputs of the model."""
        return getattr(self.model, "named_outputs", ())

    def call(self, inputs, training=None):
        if not training:
            return self.model(inputs, training=False)
        target = ops.convert_to_tensor(inputs["target"])
        own = self._own_tokens(logits_part(self.model(inputs, training=False)))
        mixed = self._mix(target, ops.cast(own, target.dtype))
        return self.model({**inputs, "target": mixed}, training=True)

    def _own_tokens(self, logits):
        """Return a token of the model for each position, never padding."""
        logits = at_least_float32(ops.stop_gradient(logits))
        vocabulary = logits.shape[-1]
        is_pad = ops.equal(ops.arange(vocabulary), self.pad)
        logits = ops.where(is_pad, float("-inf"), logits)
        if self.use_argmax:
            return ops.argmax(logits, axis=-1)
        shape, flat = ops.shape(logits)[:-1], ops.reshape(logits, (-1, vocabulary))
        return ops.reshape(
            keras.random.categorical(flat, 1, seed=self.seed_generator), shape
        )

    def _mix(self, target, own):
        """Return target inputs, some of them replaced by the model's own tokens.

        Args:
            target: ids `[batch, target]`, the true inputs.
            own: ids `[batch, target]`, the model's token after each input.
        """
        step = _optimizer(self).iterations
        real = ops.not_equal(target, self.pad)
        # The first real input is the start token. The model has no token of its own for
        # it, because no real input comes before it.
        has_own = ops.pad(real[:, :-1], ((0, 0), (1, 0)))
        own = ops.pad(own[:, :-1], ((0, 0), (1, 0)))
        uniform = keras.random.uniform(ops.shape(target), seed=self.seed_generator)
        is_drawn = ops.less(uniform, self.probability(step))
        return ops.where(is_drawn & real & has_own, own, target)

    def get_config(self):
        return {
            **super().get_config(),
            "model": keras.saving.serialize_keras_object(self.model),
            "probability": keras.saving.serialize_keras_object(self.probability),
            "use_argmax": self.use_argmax,
            "pad": self.pad,
            "seed": self.seed,
        }

    @classmethod
    def from_config(cls, config):
        parts = {n: deserialize_part(config[n]) for n in ("model", "probability")}
        return cls(**{**config, **parts})


def _check_parts(model, probability):
    if not isinstance(model, keras.Model):
        raise four_part_error(
            "ScheduledSampling got an unusable model",
            "a keras.Model from source and target ids to logits",
            abbreviated(model),
            "Pass e.g. a Seq2Seq",
        )
    if not isinstance(probability, SamplingProbability):
        raise four_part_error(
            "ScheduledSampling got an unusable probability",
            "a SamplingProbability",
            abbreviated(probability),
            "Pass e.g. ConstantProbability(0.25) or InverseSigmoidProbability(2000)",
        )


def _optimizer(model):
    """Return the optimizer of a model, which counts the steps."""
    if getattr(model, "optimizer", None) is None:
        raise four_part_error(
            "ScheduledSampling got no optimizer to count its steps",
            "a compiled model for training=True",
            "one without an optimizer",
            "Call scheduled.compile(optimizer, loss) first",
        )
    return model.optimizer
