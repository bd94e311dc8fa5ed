"""Begin a run with word vectors: `--source-vectors` and `--target-vectors`."""

from keras_seqattn.cli.progress import note, working
from keras_seqattn.errors import four_part_error
from keras_seqattn.text import Words, word_vectors
from keras_seqattn.translator.vocabulary_weights import vocabulary_weights


def start_from_vectors(settings, translator):
    """Replace the initial embeddings of the sides for which a file is named."""
    known = vocabulary_weights(translator.model)
    used = set()
    for side in ("source", "target"):
        path = getattr(settings, f"{side}_vectors")
        if path is None:
            continue
        text, weight = (
            getattr(translator, f"{side}_text"),
            known.get(f"{side} embedding"),
        )
        _check(side, path, text, weight, used)
        used.add(id(weight.variable))
        units = weight.variable.shape[1]
        with working(f"reading {path}"):
            matrix, found = word_vectors(path, text.vocabulary, units, settings.seed)
        weight.assign(matrix)
        note(f"{path}: vectors of {found.sum()} of {len(found)} {side} tokens")


def _check(side, path, text, weight, used):
    expected = "an embedding of words"
    if not isinstance(text, Words):
        received = f"{type(text).__name__} as the {side} text"
        remedy = f"Add --{side}-text words, or leave the file out"
    elif weight is None:
        received = f"a {side} embedding that is not a layer Embedding"
        remedy = "Leave the file out"
    elif id(weight.variable) in used:
        expected = "one file for the embedding that both sides share"
        received = "--source-vectors and --target-vectors"
        remedy = "Leave one of them out"
    else:
        return
    raise four_part_error(
        f"train cannot use --{side}-vectors {path}", expected, received, remedy
    )
