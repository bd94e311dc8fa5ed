"""What a search needs of a model, and a model of nobody."""

from typing import Any, Protocol, runtime_checkable

from keras_seqattn.types import Started, Step


@runtime_checkable
class StepModel(Protocol):
    """A model that can be searched; `Seq2Seq` and `Ensemble` are two.

    Both methods are graph code: tensors in, tensors out, no side effects.
    """

    def start(self, source: Any) -> Started:
        """`Started(state, memory)` for a batch of sources.

        The state is a nest, batch first. The memory has a `mask` `[batch, source]`,
        True = real, or None when everything is.
        """

    def step(self, tokens: Any, state: Any, memory: Any) -> Step:
        """`Step(logits, alignment, state)` after the last tokens.

        `tokens` are `[batch]`, or `[batch, beam]` when there are several hypotheses;
        the state then has that axis too, the memory never: its values and keys are
        those of the sentence, whichever hypothesis asks. The alignment is
        `[batch, source]` or `[batch, beam, source]`, with heads before the source.
        """


def look_ahead(model, memory):
    """The memory with more computed once, from a model that offers it.

    `model.look_ahead(memory)` is optional: work that many steps share.
    """
    return model.look_ahead(memory) if hasattr(model, "look_ahead") else memory


def can_shorten(model):
    """Whether the model, and all members of an ensemble, offer `shorten`.

    `model.shorten(memory, ids)` is optional: the memory with which `step` takes places
    in `ids` `[size]` in the place of tokens, and returns logits of these tokens alone.
    """
    return all(hasattr(m, "shorten") for m in (model, *getattr(model, "models", ())))


def can_score(model):
    """Whether the model, and all members of an ensemble, take whole sentences.

    A model that is called on `{"source", "target"}` is optional: it is searched by
    `start` and `step` alone.
    """
    members = getattr(model, "models", ())  # an ensemble itself can be called, always
    return callable(model) and all(map(can_score, members))


def can_select(model):
    """Whether the model, and all members of an ensemble, offer `select`.

    `model.select(memory, rows)` is optional: the memory of some sentences of the batch.
    Without it those that are finished stay to the end.
    """
    return all(hasattr(m, "select") for m in (model, *getattr(model, "models", ())))
