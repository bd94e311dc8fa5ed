"""The corpus Multi30k: captions of pictures."""

import os

from keras_seqattn.data.corpora.corpus_folder import file_in, folder_of
from keras_seqattn.data.corpora.download import fetch
from keras_seqattn.data.pair_files import read_pairs
from keras_seqattn.data.tasks.task_data import Task
from keras_seqattn.errors import abbreviated, four_part_error

_ADDRESS = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1"
_SPLITS = {"train": "train", "validation": "val", "test": "test_2016_flickr"}
# sha256 of the text in each file, computed from a copy of the corpus, not by its
# authors: whether a file is compressed, and how, makes no difference.
_CHECKSUMS = {
    "test_2016_flickr.de": (
        "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16"
    ),
    "test_2016_flickr.en": (
        "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182"
    ),
    "test_2016_flickr.fr": (
        "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6"
    ),
    "test_2016_flickr.lc.norm.tok.de": (
        "c6a33d39d48f9f510de147651316cd9d918e09ad0219df734a2f16b6baccacc4"
    ),
    "test_2016_flickr.lc.norm.tok.en": (
        "5b7f32627cf99eced828311b955dae9800bb52bc8b91cf8b6526829e605b29d2"
    ),
    "test_2016_flickr.lc.norm.tok.fr": (
        "1463bd5960f9bfe098ec3cd752d3df0c49c84dc646fb518964a29232658cd836"
    ),
    "train.de": ("2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72"),
    "train.en": ("460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6"),
    "train.fr": ("5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d"),
    "train.lc.norm.tok.de": (
        "cb5a23529b65ec2061f1dc446192a9c37382b63cc75f81a0be59d34894b3a505"
    ),
    "train.lc.norm.tok.en": (
        "08925f8e0572bcd5a006702fc5fe20e2d77c6917d4eebd576fc20de6693c2119"
    ),
    "train.lc.norm.tok.fr": (
        "8fa41bb718412bcb7c5dfa58603842810a01543eae86a51279f9886b901266e1"
    ),
    "val.de": ("660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660"),
    "val.en": ("1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227"),
    "val.fr": ("5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc"),
    "val.lc.norm.tok.de": (
        "97232bd273eceb7207f689527386a97e4be2616b18ada47576bdaf96c8ae1f00"
    ),
    "val.lc.norm.tok.en": (
        "46573ce391ae227f1c72f873392436a20ef18e0a6d518098cfbd70b77c8572ec"
    ),
    "val.lc.norm.tok.fr": (
        "b303e301aa21fe7822a846b2b3fb2d5a1121ec807cd5b1d006fb7b2b5507168a"
    ),
}


def multi30k(folder=None, languages=("en", "de"), tokenized=True):
    """Multi30k, task 1: captions of pictures, and their translations.

    It has 29 000 pairs for training, 1 014 for validation, and the 1 000 pairs of the
    test set of 2016. It is for research only.

    Args:
        folder: a folder with the files `train.en` and so on, plain or compressed. None:
            the subfolder `multi30k` of the folder that the environment variable
            `KERAS_SEQATTN_DATA` names. Without this variable, the files are downloaded
            once to `~/.keras/datasets/multi30k`, and their checksums are compared.
        languages: languages of source and target, two of `"en"`, `"de"`, `"fr"`.
        tokenized: True: the files `train.lc.norm.tok.en` and so on, which the authors
            of the corpus have lowercased, normalised and tokenised; False: the texts
            as they were written.

    Returns:
        `Task`.

    Example:
        >>> task = multi30k()  # doctest: +SKIP
        >>> len(task.train), len(task.validation), len(task.test)  # doctest: +SKIP
        (29000, 1014, 1000)

    References:
        Elliott, Frank, Sima'an, Specia 2016, arXiv:1605.00459.
    """
    _check_languages(languages)
    kind = ".lc.norm.tok" if tokenized else ""
    names = {
        split: [f"{name}{kind}.{language}" for language in languages]
        for split, name in _SPLITS.items()
    }
    folder = folder_of("multi30k", folder) or _downloaded(sum(names.values(), []))
    splits = {
        split: read_pairs(*(file_in("multi30k", folder, name) for name in sides))
        for split, sides in names.items()
    }
    return Task(
        name="multi30k",
        description=f"captions of pictures, {languages[0]} to {languages[1]}",
        source_text="subwords",
        target_text="subwords",
        **splits,
    )


def _downloaded(names):
    """Download the files, and return their folder."""
    home = os.environ.get("KERAS_HOME", os.path.join("~", ".keras"))
    folder = os.path.join(os.path.expanduser(home), "datasets", "multi30k")
    for name in names:
        tokenized = ".tok." in name
        file = name if tokenized else f"{name}.gz"
        address = f"{_ADDRESS}/{'tok' if tokenized else 'raw'}/{file}"
        fetch("multi30k", address, os.path.join(folder, file), _CHECKSUMS[name])
    return folder


def _check_languages(languages):
    known = ("de", "en", "fr")
    right = isinstance(languages, (list, tuple)) and len(languages) == 2
    if not right or languages[0] == languages[1] or not {*languages} <= {*known}:
        raise four_part_error(
            "multi30k got unusable languages",
            f"two of {list(known)}",
            f"languages={abbreviated(languages)}",
            "Pass the source language first, e.g. ('en', 'de')",
        )
