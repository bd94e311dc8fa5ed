"""The corpus CMUdict: pronunciations of English words."""

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
    """The split of CMUdict 0.7b in the literature: spelling to phonemes.

    A word may have several pronunciations. In training, each of them is a pair. A
    held-out word is one pair, and all its pronunciations are references, because each
    of them is right. The split distributes lines, not words. So some words are both in
    the development split and in the training split: they are left out of training, and
    their other pronunciations become references. No word of the test split is in the
    training split.

    Args:
        folder: a folder with `train-dev-20-21.txt`, `train-dev-1-21.txt` and
            `test.txt`, plain or compressed. Each line has a word, two blanks, and its
            phonemes. None: the subfolder `g2p` of the folder that the environment
            variable `KERAS_SEQATTN_DATA` names. Nothing is downloaded.

    Returns:
        `Task`, characters to words.

    Example:
        >>> task = cmudict()  # doctest: +SKIP
        >>> task.test[0]  # doctest: +SKIP
        ('ABADI', 'AH B AE D IY')

    References:
        Carnegie Mellon University Pronouncing Dictionary.
    """
    folder = folder_of("g2p", folder)
    if folder is None:
        raise four_part_error(
            "cmudict got no folder",
            f"folder=... or the environment variable {VARIABLE}",
            "neither of them",
            f"Pass the folder with {', '.join(_SPLITS.values())}",
        )
    splits = {
        split: _read(file_in("g2p", folder, name)) for split, name in _SPLITS.items()
    }
    references, others = {}, by_source(splits["train"])
    for split in ("validation", "test"):
        words = by_source(splits[split])
        words = {word: texts + others.get(word, []) for word, texts in words.items()}
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
                "Correct the file, or download it again",
            )
        words.append(word)
        pronunciations.append(phonemes.strip())
    return Pairs(words, pronunciations)
