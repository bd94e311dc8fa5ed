"""What a task is: pairs to learn from, pairs to choose by, pairs to be judged by."""

import dataclasses

from keras_seqattn.data.pairs import Pairs


@dataclasses.dataclass(frozen=True)
class Task:
    """Pairs of strings for training, validation and test, and what fits them.

    Args:
        name: of the task.
        description: what becomes what, in one line.
        train: `Pairs` to learn from.
        validation: `Pairs` to choose settings and checkpoints by.
        test: `Pairs` for the last word. Nothing held out stands in `train`.
        source_text: the text processor that fits the sources, `"characters"` or
            `"words"` (between blanks).
        target_text: the text processor that fits the targets.
        references: `{"validation": [[...], ...], "test": [[...], ...]}`, for each
            held-out pair all the targets that are right; what is left out is made of
            the pairs' own targets.

    Example:
        >>> pairs = Pairs(["abc"], ["cba"])
        >>> task = Task("reverse", "from behind", pairs, pairs, pairs)
        >>> task.source_text, task.references["test"]
        ('characters', [['cba']])
    """

    name: str
    description: str
    train: Pairs
    validation: Pairs
    test: Pairs
    source_text: str = "characters"
    target_text: str = "characters"
    references: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        own = {
            split: [[target] for target in getattr(self, split).target]
            for split in ("validation", "test")
        }
        object.__setattr__(self, "references", own | self.references)
