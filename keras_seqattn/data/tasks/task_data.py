"""The data of a task: pairs for training, validation and test."""

import dataclasses

from keras_seqattn.data.pairs import Pairs


@dataclasses.dataclass(frozen=True)
class Task:
    """Pairs of strings for training, validation and test, with their text processors.

    Args:
        name: of the task.
        description: sources and targets in one line.
        train: `Pairs` to train on.
        validation: `Pairs` to choose settings and checkpoints with.
        test: `Pairs` for the final evaluation. No held-out pair is in `train`.
        source_text: the text processor that fits the sources: `"characters"`,
            `"words"` (between blanks) or `"subwords"`. None: not known.
        target_text: the text processor that fits the targets.
        references: `{"validation": [[...], ...], "test": [[...], ...]}`, for each
            held-out pair all targets that are right. If a split is missing, the targets
            of its pairs are the references.

    Example:
        >>> pairs = Pairs(["abc"], ["cba"])
        >>> task = Task("reverse", "reversed", pairs, pairs, pairs)
        >>> task.source_text, task.references["test"]
        ('characters', [['cba']])
    """

    name: str
    description: str
    train: Pairs
    validation: Pairs
    test: Pairs
    source_text: str | None = "characters"
    target_text: str | None = "characters"
    references: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        own = {
            split: [[target] for target in getattr(self, split).target]
            for split in ("validation", "test")
        }
        object.__setattr__(self, "references", own | self.references)
