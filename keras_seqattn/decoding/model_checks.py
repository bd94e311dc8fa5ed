"""The optional methods and attributes of a model, beside those of a `StepModel`."""


def can_shorten(model):
    """Whether the model, and each member of an ensemble, has the method `shorten`.

    `model.shorten(memory, ids)` is optional. It returns a memory with which `step`
    reads and scores only the tokens `ids` `[size]`: its inputs are places in `ids`, and
    its logits are those of `ids`.
    """
    return all(hasattr(m, "shorten") for m in (model, *getattr(model, "models", ())))


def source_pad_of(model, default):
    """Return the id that pads sources, `model.source_pad`, which is optional.

    Args:
        model: a `StepModel`. All members of an ensemble read the same source.
        default: for a model that does not tell it.
    """
    for member in getattr(model, "models", ()):
        return source_pad_of(member, default)
    return getattr(model, "source_pad", default)


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
