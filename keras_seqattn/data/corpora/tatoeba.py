"""The corpus Tatoeba: short sentences for language learners."""

import os
import random

from keras_seqattn.checks import check_count
from keras_seqattn.data.corpora.references import by_source, held_out
from keras_seqattn.data.pair_files import read_pairs
from keras_seqattn.data.tasks.task_data import Task
from keras_seqattn.errors import four_part_error


def tatoeba(path, *, reverse=False, validation=1_000, test=1_000, seed=0):
    """Sentence pairs of Tatoeba, from the files for flash cards.

    The files are at https://www.manythings.org/anki (CC BY 2.0 FR), `deu.txt` for
    German and so on. Each line has an English sentence, a tab, its translation, a tab,
    and the authors. The files grow from time to time: there is no checksum, and
    nothing is downloaded.

    A source may occur in several lines, with different translations. It is held out
    with all of them, and no side of a held-out pair is in `train`.

    Args:
        path: path of such a file, plain or compressed.
        reverse: True: translate into English; False: translate from English.
        validation: number of sources.
        test: number of sources. They do not depend on `validation`.
        seed: decides which sources are held out.

    Returns:
        `Task`; its references are all translations of each held-out source.

    Example:
        >>> task = tatoeba("deu.txt")  # doctest: +SKIP
        >>> task.train[0]  # doctest: +SKIP
        ('Go.', 'Geh.')

    References:
        https://tatoeba.org
    """
    for name, value in {"validation": validation, "test": test}.items():
        check_count("tatoeba", name, value, 1)
    check_count("tatoeba", "seed", seed, 0)
    pairs = read_pairs(path, format="tsv", columns=(1, 0) if reverse else (0, 1))
    targets = by_source(pairs)
    order = sorted(targets)
    if len(order) <= validation + test:
        raise four_part_error(
            "tatoeba got too many sentences to hold out",
            f"validation + test < {len(order)}, the different sources in "
            f"{os.fspath(path)!r}",
            f"{validation} + {test}",
            "Lower these numbers",
        )
    random.Random(seed).shuffle(order)
    chosen = {"test": order[:test], "validation": order[test : test + validation]}
    splits, references = {}, {}
    for split, sources in chosen.items():
        splits[split], references[split] = held_out({s: targets[s] for s in sources})
    splits["train"] = _without(pairs, splits, references)
    return Task(
        name="tatoeba",
        description=f"short sentences, {'into' if reverse else 'from'} English",
        source_text="subwords",
        target_text="subwords",
        references=references,
        **splits,
    )


def _without(pairs, splits, references):
    """Return the pairs of which neither side is held out."""
    sources = {source for held in splits.values() for source in held.source}
    targets = {t for held in references.values() for several in held for t in several}
    return pairs.select(
        [i for i, (s, t) in enumerate(pairs) if s not in sources and t not in targets]
    )
