"""CMUdict: how English words are pronounced."""

from keras_seqattn.data.corpora.corpus_folder import VARIABLE, file_in, folder_of
from keras_seqattn.data.corpora.references import by_source, held_out
from keras_seqattn.data.pairs import Pairs
from keras_seqattn.data.tasks.task_data import Task
from keras_seqattn.data.text_files import lines
from keras_seqattn.errors import four_part_error

_SPLITS = {
    "train": "train-dev-20-21.txt",
    "validation": "train-dev-1-21.txt",
    "test": "test.txt",
}


def cmudict(folder=None):
    """The split of CMUdict 0.7b that the literature reports: spelling to phonemes.

    A word may have several pronunciations. In training each is a pair; a held-out word
    is one pair, with all its pronunciations as references: any of them is right. The
    split has dealt out lines, not words: words of the development split that stand in
    the training split, too, are left out of training, and their other pronunciations
    are references. None of the test does.

    Args:
        folder: with `train-dev-20-21.txt`, `train-dev-1-21.txt` and `test.txt`, plain
            or compressed: in each line a word, two blanks, its phonemes. None: the
            folder `g2p` in the one that the environment variable `KERAS_SEQATTN_DATA`
            names. Nothing is downloaded.

    Returns:
        `Task`, characters to words.

    Example:
        >>> task = cmudict()  # doctest: +SKIP
        >>> task.test[0]  # doctest: +SKIP
        ('ABADI', 'AH B AE D IY')

    References:
        Carnegie Mellon University Pronouncing Dictionary.
    """
    found = folder_of("g2p", folder)
    if found is None:
        raise four_part_error(
            "cmudict got no folder",
            f"folder=... or the environment variable {VARIABLE}",
            "neither",
            f"Name the folder with {', '.join(_SPLITS.values())}",
        )
    splits = {
        split: _read(file_in("g2p", found, name)) for split, name in _SPLITS.items()
    }
    references, others = {}, by_source(splits["train"])
    for split in ("validation", "test"):
        words = by_source(splits[split])
        words = {word: said + others.get(word, []) for word, said in words.items()}
        splits[split], references[split] = held_out(words)
    held = {*splits["validation"].source, *splits["test"].source}
    left = [i for i, word in enumerate(splits["train"].source) if word not in held]
    splits["train"] = splits["train"].select(left)
    return Task(
        name="cmudict",
        description="English words to phonemes",
        source_text="characters",
        target_text="words",
        references=references,
        **splits,
    )


def _read(path):
    words, pronunciations = [], []
    for number, line in enumerate(lines(path), start=1):
        word, _, phonemes = line.partition("  ")
        if not word or not phonemes.strip():
            raise four_part_error(
                "cmudict got a malformed line",
                "a word, two blanks and phonemes",
                f"{line[:80]!r} in line {number} of {path!r}",
                "Correct the file, or get it again",
            )
        words.append(word)
        pronunciations.append(phonemes.strip())
    return Pairs(words, pronunciations)
