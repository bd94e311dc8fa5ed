"""An ensemble: several models that decode together."""

from typing import Any, NamedTuple

import tensorflow as tf

from keras_seqattn.decoding import model_state
from keras_seqattn.decoding.candidates import normalise
from keras_seqattn.decoding.checks import check_model
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.types import Started, Step


class EnsembleMemory(NamedTuple):
    """The memories of all models, and the mask of the source."""

    members: Any
    mask: Any


class Ensemble:
    """Several models as one `StepModel`: their mean probabilities decide.

    Args:
        models: `StepModel`s with the same vocabularies. All read the same source and
            attend to equally many positions. `score` needs models that can be called.
        combine: "log_linear": the mean of the log-probabilities, renormalised; a token
            is impossible if one model finds it impossible. "linear": the mean of the
            probabilities.
        weights: one number for each model; they need not sum to 1. None: all equal.

    Equations:
        log_linear: p(y) ~ prod{p[n](y)^w[n] : n}
        linear: p(y) = sum{w[n] * p[n](y) : n}
        alignment = sum{w[n] * alignment[n] : n}
            of the means over heads, if not all models have as many

    Example:
        >>> def model(seed):
        ...     keras.utils.set_random_seed(seed)
        ...     cell = BahdanauCell(8, attention=BahdanauAttention(8))
        ...     return Seq2Seq(
        ...         source_embedding=keras.layers.Embedding(20, 4),
        ...         encoder=BiEncoder(8),
        ...         decoder=AttentionDecoder(cell),
        ...         head=OutputHead(20),
        ...     )
        >>> ensemble = Ensemble([model(1), model(2)])
        >>> source = keras.ops.array([[5, 6, 2]])
        >>> decode(ensemble, source, Greedy(), max_length=4).scores.shape
        TensorShape([1, 1])
    """

    def __init__(self, models, combine="log_linear", weights=None):
        self.models = list(models)
        if not self.models:
            raise four_part_error(
                "Ensemble got no models",
                "one or more",
                "[]",
                "Pass a list of Seq2Seq models with the same vocabularies",
            )
        for model in self.models:
            check_model("Ensemble", model)
        if combine not in ("linear", "log_linear"):
            raise four_part_error(
                "Ensemble got an unknown combine",
                "'linear' or 'log_linear'",
                abbreviated(combine),
                "Check the spelling",
            )
        weights = [1.0] * len(self.models) if weights is None else list(weights)
        if len(weights) != len(self.models) or min(weights) < 0 or sum(weights) <= 0:
            raise four_part_error(
                "Ensemble got unusable weights",
                f"one number for each of the {len(self.models)} models, 0 or more and "
                "not all 0",
                weights,
                "Use None for equal weights",
            )
        self.combine = combine
        self.weights = [float(weight) / sum(weights) for weight in weights]

    @property
    def variables(self):
        return [v for m in self.models for v in getattr(m, "variables", ())]

    def check_ids(self, source, target=None):
        """Check ids as each model does that can."""
        for model in self.models:
            if hasattr(model, "check_ids"):
                model.check_ids(source, target)

    def start(self, source, max_length=None):
        """Return `Started` with the states and memories of all models."""
        started = [
            model_state.start(model, source, max_length) for model in self.models
        ]
        mask = getattr(started[0].memory, "mask", None)
        memory = EnsembleMemory([s.memory for s in started], mask)
        return Started([s.state for s in started], memory)

    def precompute(self, memory):
        """Return the memory with work that many steps share already done."""
        ahead = [
            model.precompute(member) if hasattr(model, "precompute") else member
            for model, member in zip(self.models, memory.members, strict=True)
        ]
        return memory._replace(members=ahead)

    def select(self, memory, rows):
        """Return the memory of some sentences of the batch."""
        members = zip(self.models, memory.members, strict=True)
        selected = [model.select(member, rows) for model, member in members]
        return EnsembleMemory(selected, tf.gather(memory.mask, rows))

    def shorten(self, memory, ids):
        """Return a memory with which `step` reads and scores only the tokens `ids`.

        The probabilities of each model are those among these tokens.
        """
        members = zip(self.models, memory.members, strict=True)
        shortened = [model.shorten(member, ids) for model, member in members]
        return memory._replace(members=shortened)

    def step(self, tokens, state, memory):
        """Return a `Step` whose output are log-probabilities."""
        members = zip(self.models, state, memory.members, strict=True)
        steps = [model.step(tokens, own, member) for model, own, member in members]
        output = self._combined([step.output for step in steps])
        alignments = [step.alignment for step in steps]
        alignment = self._mean_alignment(alignments, output, axis=-2)
        return Step(output, alignment, [step.state for step in steps])

    def __call__(self, inputs, return_attention_scores=False):
        results = [m(inputs, return_attention_scores=True) for m in self.models]
        logits, alignments = zip(*results, strict=True)
        output = self._combined(logits)
        if not return_attention_scores:
            return output
        return output, self._mean_alignment(alignments, output, axis=1)

    def _combined(self, logits):
        sizes = {x.shape[-1] for x in logits}
        if len(sizes) > 1:
            raise four_part_error(
                "Ensemble got models with different vocabularies",
                "logits of one size",
                f"{sorted(sizes)}",
                "Pass models with the same target vocabulary",
            )
        pairs = [normalise(tf.cast(x, tf.float32)) for x in logits]
        log_probs = [clean - log_sum for clean, log_sum in pairs]
        if self.combine == "log_linear":
            return tf.nn.log_softmax(self._mean(log_probs))
        shifted = [x + tf.math.log(weight) for weight, x in self._weighted(log_probs)]
        return tf.reduce_logsumexp(tf.stack(shifted), axis=0)

    def _mean_alignment(self, alignments, output, axis):
        """The mean; of the heads first, on `axis`, if not all models have as many."""
        rank = len(output.shape)
        heads = [x.shape[axis] if len(x.shape) > rank else None for x in alignments]
        if len(set(heads)) > 1:
            alignments = [
                x if count is None else tf.reduce_mean(x, axis)
                for x, count in zip(alignments, heads, strict=True)
            ]
        return self._mean(alignments)

    def _mean(self, values):
        pairs = self._weighted(values)
        return tf.add_n([weight * tf.cast(x, tf.float32) for weight, x in pairs])

    def _weighted(self, values):
        """Return pairs of weight and value, without weights of 0.

        0 times an infinite logarithm would be NaN.
        """
        pairs = zip(self.weights, values, strict=True)
        return [(weight, x) for weight, x in pairs if weight]
