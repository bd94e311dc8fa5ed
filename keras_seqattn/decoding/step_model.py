"""The methods that a search needs of a model; it needs no base class."""

from typing import Any, Protocol, runtime_checkable

from keras_seqattn.types import Started, Step


@runtime_checkable
class StepModel(Protocol):
    """A model that `decode` can search with; `Seq2Seq` and `Ensemble` are two.

    Both methods are graph code: tensors in, tensors out, no side effects. A method
    `check_ids(source, target=None)` is optional: an eager `decode` or `score` calls it
    first, so that it can raise an error for the numbers in its arguments. Attributes
    `pad` and `source_pad` are optional: the ids of the padding of targets and sources.
    """

    def start(self, source: Any) -> Started:
        """Return `Started(state, memory)` for a batch of sources.

        A model that remembers all earlier steps may have a second argument,
        `max_length=None`: a Python integer, if its past needs room for so many steps.
        It keeps its past in a `Past`, whose nodes never get an axis for the beam.

        The state is a nest, batch first. The memory has a `mask` `[batch, source]`,
        True = real, or None when everything is real.
        """

    def step(self, tokens: Any, state: Any, memory: Any) -> Step:
        """Return `Step(logits, alignment, state)` after the last tokens.

        `tokens` are `[batch]`, or `[batch, beam]` when a sentence has several
        hypotheses. The state then has the axis of the beam, too. The memory never has
        it: all hypotheses of a sentence share its values and keys. The alignment is
        `[batch, source]` or `[batch, beam, source]`, with heads before the source.
        """
