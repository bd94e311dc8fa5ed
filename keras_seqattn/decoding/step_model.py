"""The methods that a search needs of a model; it needs no base class."""

from typing import Any, Protocol, runtime_checkable

from keras_seqattn.types import Started, Step


@runtime_checkable
class StepModel(Protocol):
    """A model that `decode` can search with; `Seq2Seq` and `Ensemble` are two.

    Both methods are graph code: tensors in, tensors out, no side effects.
    """

    def start(self, source: Any) -> Started:
        """Return `Started(state, memory)` for a batch of sources.

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


def look_ahead(model, memory):
    """Return the memory with work that many steps share already done.

    `model.look_ahead(memory)` is optional; without it the memory stays as it is.
    """
    return model.look_ahead(memory) if hasattr(model, "look_ahead") else memory


def can_shorten(model):
    """Whether the model, and each member of an ensemble, has the method `shorten`.

    `model.shorten(memory, ids)` is optional. It returns a memory with which `step`
    reads and scores only the tokens `ids` `[size]`: its inputs are places in `ids`, and
    its logits are those of `ids`.
    """
    return all(hasattr(m, "shorten") for m in (model, *getattr(model, "models", ())))


def can_score(model):
    """Whether the model, and each member of an ensemble, can be called.

    A call on `{"source", "target"}` is optional: a search needs only `start` and
    `step`.
    """
    members = getattr(model, "models", ())  # an Ensemble itself can always be called
    return callable(model) and all(map(can_score, members))


def can_select(model):
    """Whether the model, and each member of an ensemble, has the method `select`.

    `model.select(memory, rows)` is optional. It returns the memory of some sentences of
    the batch. Without it, finished sentences stay in the batch to the end.
    """
    return all(hasattr(m, "select") for m in (model, *getattr(model, "models", ())))
